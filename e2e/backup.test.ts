import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { send } from '../testing/client.ts'
import { anApplication } from '../testing/form.ts'
import { startReceiver } from '../testing/receiver.ts'
import { runCommand, startServer, temporaryDirectory } from '../testing/server.ts'

const idsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { id: string; email: string })

test('a backup taken while applications come in is restored whole, and nothing is delivered twice', async () => {
  const directory = await temporaryDirectory()
  const original = { DATA_DIR: join(directory.path, 'original') }
  const copy = { DATA_DIR: join(directory.path, 'copy') }
  const folder = join(directory.path, 'backup')

  // Some were delivered before the backup, some were refused, and those that come meanwhile wait.
  let refusing = false
  const hook = await startReceiver((_request, response) => response.writeHead(refusing ? 500 : 200).end())
  const delivering = await startServer({ ...original, WEBHOOK_URL: hook.origin })
  const delivered = Array.from({ length: 20 }, () =>
    anApplication({ reason: 'a\n"b",c\\.\r\n\u2028\u0085'.repeat(1_000) }),
  )
  for (const application of delivered) await send(delivering.origin, application)
  await hook.count(delivered.length)
  refusing = true
  const refused = Array.from({ length: 5 }, () => anApplication())
  for (const application of refused) await send(delivering.origin, application)
  await hook.count(delivered.length + refused.length)
  await delivering.stop()
  const server = await startServer(original)

  const meanwhile: string[] = []
  let backedUp = false
  const sending = (async () => {
    while (!backedUp) {
      const application = anApplication()
      if ((await send(server.origin, application)) === 201) meanwhile.push(application.email)
    }
  })()
  const backup = await runCommand(['backup', '--to', folder], original)
  backedUp = true
  await sending
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  const listed = idsOf((await runCommand(['applications', '--json'], original)).stdout)
  const deliveredIds = new Set(
    listed.filter(({ email }) => delivered.some((one) => one.email === email)).map(({ id }) => id),
  )
  await server.stop()

  const restored = await runCommand(['restore', '--from', folder], copy)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  const rows = idsOf((await runCommand(['applications', '--json'], copy)).stdout)
  expect(restored.stdout).toContain(`Restored ${rows.length} applications`)
  expect(backup.stdout).toContain(`Wrote ${rows.length} applications`)
  const emails = new Set(rows.map(({ email }) => email))
  for (const { email } of [...delivered, ...refused]) expect(emails).toContain(email)
  // One moment: of those that came in meanwhile, the first so many.
  const before = meanwhile.filter((email) => emails.has(email))
  expect(before).toEqual(meanwhile.slice(0, before.length))
  expect(rows).toHaveLength(delivered.length + refused.length + before.length)
  const originals = new Map(listed.map((row) => [row.id, row]))
  expect(rows).toEqual(rows.map(({ id }) => originals.get(id)))

  // What was not delivered at that moment is delivered now, once; the rest is not delivered again.
  const second = await startReceiver()
  const again = await startServer({ ...copy, WEBHOOK_URL: second.origin })
  const last = anApplication()
  expect(await send(again.origin, last)).toBe(201)
  const expected = refused.length + before.length + 1
  const came = await second.count(expected)
  const ids = came.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(expected)
  expect(ids.filter((id) => deliveredIds.has(String(id)))).toEqual([])
  expect(await send(again.origin, refused[0] ?? last)).toBe(409)
  await again.stop()
  expect((await runCommand(['webhooks'], copy)).stdout).toMatch(
    new RegExp(`^delivered +${rows.length + 1}$`, 'm'),
  )
  expect(second.received).toHaveLength(expected)
  await Promise.all([hook.close(), second.close(), directory.remove()])
})

test('a backup and a restore that cannot be made are refused in one sentence and leave nothing', async () => {
  const directory = await temporaryDirectory()
  const settings = { DATA_DIR: join(directory.path, 'data') }
  const folder = join(directory.path, 'backup')
  const oneSentence = async (command: string[], sentence: RegExp) => {
    const { code, stdout, stderr } = await runCommand(command, settings)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(sentence)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }

  const server = await startServer(settings)
  await send(server.origin, anApplication())
  await server.stop()
  expect((await runCommand(['backup', '--to', folder], settings)).code).toBe(0)
  await oneSentence(['backup', '--to', folder], /is there already/)
  await oneSentence(['backup', '--to', '/dev/null/backup'], /cannot be used/)
  await oneSentence(['restore', '--from', folder], /holds applications already/)

  await rm(settings.DATA_DIR, { recursive: true })
  await oneSentence(['restore', '--from', join(directory.path, 'nowhere')], /cannot be used/)
  const rows = join(folder, 'public.retreat_applications.jsonl')
  const whole = await readFile(rows, 'utf8')
  for (const damaged of [whole.slice(0, -20), '', '{"something": "else"}\n', 'no JSON\n']) {
    await writeFile(rows, damaged)
    await oneSentence(['restore', '--from', folder], /is not a whole backup/)
  }
  await writeFile(rows, whole)
  expect((await runCommand(['restore', '--from', folder], settings)).code).toBe(0)
  expect(await readdir(directory.path)).not.toContain('backup.partial')
  await directory.remove()
})
