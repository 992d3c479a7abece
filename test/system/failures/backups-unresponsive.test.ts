import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { send } from '../../support/send-application.ts'
import { atTestEnd } from '../../support/cleanup.ts'
import { anApplication } from '../../support/form.ts'
import { cannotRun, noMount } from '../../support/requirements.ts'
import { prepareDatabase, runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { makeUnresponsive } from '../../support/unresponsive-folder.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { within } from '../../support/within.ts'

/** The timeout for calls that would hang forever if the product failed, in milliseconds. */
const timeout = 30_000

/** Makes a database and a backup folder. Returns the folder, and the settings of a server with both. */
async function prepareServer() {
  const directory = await temporaryDirectory()
  const backups = join(directory.path, 'backups')
  await mkdir(backups, { mode: 0o700 })
  const prepared = await prepareDatabase(join(directory.path, 'data'))
  return { backups, settings: { ...prepared, BACKUP_DIR: backups } }
}

/** Makes the folder unresponsive until the test ends. */
async function makeUnresponsiveForTest(folder: string, skip: (why: string) => never) {
  atTestEnd(await makeUnresponsive(folder).catch(() => cannotRun(skip, noMount)))
}

test('an unresponsive backup folder is reported, and blocks neither requests nor the stop', async ({
  skip,
}) => {
  const { backups, settings } = await prepareServer()
  const server = await startServer(settings)
  expect(await send(server.origin, anApplication())).toBe(201)
  await server.waitForOutput('"backup made"')
  await makeUnresponsiveForTest(backups, skip)
  const sql = connectToEmbedded(settings.DATA_DIR)
  await sql`delete from public.retreat_applications`
  await sql.end()
  await server.waitForOutput(/whose files do not respond.*"the list of erasures failed"/)
  await server.waitForOutput(/whose files do not respond.*"the backup failed"/)
  const health = (await (await fetch(`${server.origin}/readyz`)).json()) as Record<string, unknown>
  expect(health['backupsFailingSince']).toEqual(expect.any(String))
  // Scripts and passwords need Node.js's thread pool, which calls to unresponsive files could fill.
  const [script = ''] =
    /\/assets\/[\w.-]+\.js/.exec(await (await fetch(`${server.origin}/desk`)).text()) ?? []
  const statuses = await Promise.all([
    ...Array.from({ length: 8 }, async () => (await fetch(`${server.origin}${script}`)).status),
    ...Array.from({ length: 8 }, async () => {
      const response = await fetch(`${server.origin}/auth/v1/token?grant_type=password`, {
        method: 'POST',
        headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.org', password: 'wrong-password' }),
      })
      return response.status
    }),
    send(server.origin, anApplication()),
  ])
  expect(new Set(statuses)).toEqual(new Set([200, 400, 201]))
  const doctor = await runCommand(['doctor'], settings)
  expect(doctor.stdout).toMatch(
    /^backups +wrong +BACKUP_DIR is ".*", whose files do not respond: check the disk/m,
  )
  expect(doctor.code).not.toBe(0)
  // The server ends itself with SIGTERM, because Node.js would wait for the blocked thread. PostgreSQL has already stopped.
  expect(await within(timeout, 'the stop', server.stop())).toBe('SIGTERM')
  const listed = await runCommand(['applications', '--json'], settings)
  expect(listed.stdout.trim().split('\n')).toHaveLength(1)
})

test('a server starts and stops while its backup folder is unresponsive', async ({ skip }) => {
  const { backups, settings } = await prepareServer()
  await makeUnresponsiveForTest(backups, skip)
  const server = await startServer(settings)
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await within(timeout, 'the stop', server.stop())).toBe('SIGTERM')
})

// break: open-backup-folder-accepted
test('a start refuses a backup folder that others may write to, and a running server reports it', async () => {
  const { backups, settings } = await prepareServer()
  for (const mode of [0o777, 0o720, 0o1777]) {
    await chmod(backups, mode)
    const { code, stderr } = await within(timeout, 'the refusal', runCommand([], settings))
    expect(code).toBe(1)
    expect(stderr).toBe(
      `BACKUP_DIR is "${backups}", which others may write to: remove their write permission (chmod go-w), or name another directory.\n`,
    )
  }
  await chmod(backups, 0o755)
  const server = await startServer(settings)
  await server.waitForOutput('"backup made"')
  await chmod(backups, 0o777)
  await server.waitForOutput(/which others may write to.*"the backup failed"/)
  const { stdout } = await runCommand(['doctor'], settings)
  expect(stdout).toMatch(/^backups +wrong +BACKUP_DIR is ".*", which others may write to/m)
  expect(await server.stop()).toBe(0)
})
