import { execFile } from 'node:child_process'
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { beforeAll, expect, test } from 'vitest'

import { openDatabase } from '../../../src/server/database/database.ts'
import { checkSupport } from '../../../src/server/node-security-releases.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { freePort } from '../../support/ports.ts'
import { startReceiver } from '../../support/receiver.ts'
import { dataDirectory, runCommand, startServer, temporaryDirectory } from '../../support/server.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let directory: Awaited<ReturnType<typeof dataDirectory>>

beforeAll(async () => {
  directory = await dataDirectory()
})

/** Reads the printed findings, by name. */
function findingsIn(stdout: string) {
  const lines = [...stdout.matchAll(/^(\S+(?: \S+)?) {2,}(ok|not set|wrong|not known) +(.*)$/gm)]
  return Object.fromEntries(lines.map(([, about, verdict, sentence]) => [about, `${verdict}: ${sentence}`]))
}

const isListening = async (path: string) => {
  const socket = createConnection(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

test('without problems the doctor reports nothing as wrong and exits with 0, and `--send` sends a test email', async () => {
  const receiver = await startReceiver()
  const mailServer = await startMailServer({ user: { name: 'ada', password: 'hunter2' } })
  const port = await freePort()
  const settings = {
    DATA_DIR: directory.path,
    PORT: String(port),
    SITE_URL: `http://localhost:${port}`,
    WEBHOOK_URL: receiver.origin,
    WEBHOOK_SECRET: secret,
    SMTP_URL: `smtp://ada:hunter2@127.0.0.1:${mailServer.port}`,
    // The check of `localhost` asks no name server.
    MAIL_FROM: 'Unplugged. <hello@localhost>',
  }
  const server = await startServer(settings)
  await runCommand(['organisers', '--add', 'ada@example.org'], settings)

  const withoutSending = await runCommand(['doctor'], settings)
  // The tests may run on a Node.js without security releases, which is a problem. The start reports it too.
  const { problem } = checkSupport()
  const code = problem === undefined ? 0 : 1
  expect(withoutSending).toMatchObject({ code, stderr: '' })
  const lines = server.output().split('\n')
  expect(lines.filter((line) => /no security releases/.test(line))).toEqual(
    problem === undefined ? [] : [problem],
  )
  expect(withoutSending.stdout).not.toContain('hunter2')
  const { version } = (await (await fetch(`${server.origin}/healthz`)).json()) as { version: string }
  expect(withoutSending.stdout).toContain(`This is version ${version}.\n`)
  expect(server.output()).toContain(`This is version ${version}.\n`)
  expect((await runCommand(['--version'], {})).stdout).toBe(`${version}\n`)
  expect(findingsIn(withoutSending.stdout)).toEqual({
    settings: expect.stringMatching(/^ok: From the environment/) as string,
    runtime: expect.stringContaining(problem ?? `ok: Node.js ${process.versions.node}`) as string,
    database: expect.stringMatching(/^ok: PostgreSQL in .*, version 18\.\d+, \d+ [kM]B\.$/) as string,
    postgresql: expect.stringMatching(
      /^not set: PostgreSQL 18\.\d+ runs, from the binaries that npm installed \(.* minor versions behind /,
    ) as string,
    rights: 'ok: Database user postgres has the rights that the server needs, and visitors may only apply.',
    schema: expect.stringMatching(/^ok: \d{14}_\w+ is the newest migration\.$/) as string,
    clock: "ok: This machine's clock agrees with the database's.",
    ntp: expect.stringMatching(/^(ok|not known): /) as string,
    disk: expect.stringMatching(/^ok: .* are free in/) as string,
    'backup disk': 'not set: BACKUP_DIR is not set.',
    backups: `not set: BACKUP_DIR is not set, so no backup is made automatically: node ${resolve('start.js')} backup --to <folder> makes one.`,
    site: `ok: SITE_URL is http://localhost:${port}, which answers and is a server on this database. The server at http://127.0.0.1:${port} is version ${version}.`,
    proxy: 'ok: No proxy adds X-Forwarded-For, and none is trusted.',
    'open files': expect.stringMatching(
      /^ok: The server may open \d+ files, and serves \d+ connections at a time\.$/,
    ) as string,
    certificate: `not set: SITE_URL is http://localhost:${port}, without TLS, so it has no certificate.`,
    webhook: 'ok: 0 delivered, 0 waiting, none given up.',
    letters: 'ok: 0 sent, 0 waiting, none refused or given up.',
    mail: `ok: 127.0.0.1:${mailServer.port} is on this machine and answers without TLS, and accepts the user and password.`,
    sender: 'not known: MAIL_FROM is at localhost, which is not an Internet domain.',
    organisers: 'ok: 1, of whom 0 have a second factor.',
  })
  expect([mailServer.received, receiver.received]).toEqual([[], []])
  // The server does not treat the doctor's request as a visitor's.
  expect(server.output()).not.toContain('X-Forwarded-For')

  const withSending = await runCommand(['doctor', '--send', 'grace@example.org'], settings)
  expect(withSending.code).toBe(code)
  expect(findingsIn(withSending.stdout)).toMatchObject({
    'test mail': `ok: 127.0.0.1:${mailServer.port} accepted an email to grace@example.org: check whether it arrives, and in which folder.`,
    'test delivery': `ok: ${receiver.origin} took a delivery of the type "test" (200).`,
  })
  const [mail] = await mailServer.waitFor(1, 'grace@example.org')
  expect(mail?.subject).toBe('[Test] Unplugged. can write to you')
  const [delivery] = await receiver.waitFor(1)
  expect(new URLSearchParams(delivery?.body).get('type')).toBe('test')
  const verifySignature = () =>
    new Webhook(secret).verify(delivery?.body ?? '', delivery?.headers as Record<string, string>, {
      jsonParse: false,
    })
  expect(verifySignature).not.toThrow()
  expect(delivery?.headers['webhook-id']).toMatch(/^test_/)
})

test('without a server the doctor starts the embedded database, reads it, stops it, and reports problems', async () => {
  const port = await freePort()
  const settings = {
    DATA_DIR: directory.path,
    PORT: String(port),
    WEBHOK_URL: 'https://hooks.example.com',
    MAIL_FROM: 'hello@example.org',
    // Without effect: variables that the database's driver reads.
    NODE_PG_FORCE_NATIVE: '1',
    PGOPTIONS: '--no-such-option=1',
  }
  const { code, stdout, stderr } = await runCommand(['doctor', '--send', 'ada@example.org'], settings)
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(findingsIn(stdout)).toMatchObject({
    settings: 'wrong: WEBHOK_URL is no setting: WEBHOOK_URL is.',
    database: expect.stringMatching(
      /^ok: .* It was not running: the doctor started it to read it, and stopped it again\.$/,
    ) as string,
    site: `wrong: No server answers at http://127.0.0.1:${port}: start it.`,
    proxy: 'not set: The proxy is checked through SITE_URL, which is not set.',
    mail: 'wrong: MAIL_FROM is set, but SMTP_URL is not, so no email is sent: set SMTP_URL, or remove MAIL_FROM.',
    organisers: expect.stringMatching(/^ok: 1, of whom/) as string,
    'test mail': 'not set: No test email was sent: SMTP_URL is not set.',
    'test delivery': 'not set: No test delivery was sent: WEBHOOK_URL is not set.',
  })
  expect(await isListening(join(directory.path, '.s.PGSQL.5432'))).toBe(false)
})

test('the doctor does not change files of another PostgreSQL version, and says in one line what to do', async () => {
  const outdated = await temporaryDirectory()
  await mkdir(join(outdated.path, 'pgdata'))
  const settings = { DATA_DIR: outdated.path, PORT: String(await freePort()) }
  const advice = {
    17: 'and this version has 18: make a backup with the version of this program that it was last used with, and restore it into a new DATA_DIR (docs/operate.md#another-major-version-of-postgresql).',
    19: 'and this version has 18: use the version of this program that it was last used with or a later one, or go back (docs/operate.md#go-back).',
  }
  for (const [major, sentence] of Object.entries(advice)) {
    await writeFile(join(outdated.path, 'pgdata', 'PG_VERSION'), `${major}\n`)
    const { code, stdout, stderr } = await runCommand(['doctor'], settings)
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(findingsIn(stdout)['database']).toBe(
      `wrong: DATA_DIR is "${outdated.path}", whose database is PostgreSQL ${major}'s, ${sentence}`,
    )
  }
  await writeFile(join(outdated.path, 'pgdata', 'PG_VERSION'), '')
  expect(findingsIn((await runCommand(['doctor'], settings)).stdout)['database']).toContain(
    'restore a backup into a new DATA_DIR',
  )
  expect(await readdir(outdated.path)).toEqual(['pgdata'])
})

test('without a database, or with an invalid setting, the doctor says so and creates nothing', async () => {
  const empty = await temporaryDirectory()
  const path = join(empty.path, 'data')
  const first = await runCommand(['doctor'], { DATA_DIR: path, PORT: String(await freePort()) })
  expect(first).toMatchObject({ code: 1, stderr: '' })
  expect(findingsIn(first.stdout)).toMatchObject({
    database: `wrong: DATA_DIR is "${path}", where there is no database: mount the disk that it is on, name the folder that the server was started with, or start the server once.`,
    schema: 'not known: The database could not be read.',
    disk: `not known: There is no ${path} yet.`,
  })
  const quiet = await runCommand(['doctor', '--quiet'], { DATA_DIR: path, PORT: '0' })
  expect(quiet).toMatchObject({ code: 1, stderr: '' })
  const lines = quiet.stdout.trim().split('\n')
  expect(lines.filter((line) => !/^(database|runtime) +wrong +/.test(line))).toEqual([])
  expect(lines).toContainEqual(expect.stringMatching(/^database +wrong +DATA_DIR is/))
  const json = await runCommand(['doctor', '--json'], { DATA_DIR: path, PORT: '0' })
  expect(json).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(json.stdout)).toEqual({
    version: expect.any(String) as string,
    findings: expect.arrayContaining([
      {
        about: 'database',
        verdict: 'wrong',
        sentence: expect.stringContaining('there is no database') as string,
      },
      { about: 'schema', verdict: 'not known', sentence: 'The database could not be read.' },
    ]) as object[],
  })
  const { PATH = '' } = process.env
  // The reader of the pipe ends before the first line.
  const piped = await promisify(execFile)('sh', ['-c', 'node start.js doctor | :'], {
    env: { PATH, DATA_DIR: path, PORT: String(await freePort()) },
  })
  expect(piped).toEqual({ stdout: '', stderr: '' })
  const full = promisify(execFile)('sh', ['-c', 'node start.js doctor > /dev/full'], {
    env: { PATH, DATA_DIR: path, PORT: String(await freePort()) },
  })
  await expect(full).rejects.toMatchObject({
    code: 1,
    stderr:
      'Not everything could be written (ENOSPC): free disk space where the output is written, and begin again.\n',
  })
  const failure = openDatabase({ dataDir: path, databaseUrl: undefined }, { schema: 'check' })
  await expect(failure).rejects.toThrow('where there is no database')
  await empty.remove()

  const second = await runCommand(['doctor'], { SMTP_URL: 'smtp://ada:hunt/er2@mail.example' })
  expect(second).toMatchObject({ code: 1, stderr: '' })
  expect(second.stdout).toMatch(
    /^settings +wrong +SMTP_URL \("smtp:\/\/…", without its secrets\).*\nNothing else was checked: fix this first\.\n$/m,
  )
  expect(second.stdout).not.toContain('er2')
  const both = await runCommand(['doctor', '--quiet', '--json'], { PORT: 'web' })
  expect(both).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(both.stdout)).toMatchObject({ findings: [{ about: 'settings', verdict: 'wrong' }] })
  for (const name of ['WEBHOOK_URL', 'DATABASE_URL', 'SMTP_URL']) {
    const protocol = { WEBHOOK_URL: 'https', DATABASE_URL: 'postgres', SMTP_URL: 'smtp' }[name]
    const third = await runCommand(['doctor'], { [name]: `${protocol}://ada:hunt%er2@example.org/` })
    expect(third).toMatchObject({ code: 1, stderr: '' })
    expect(third.stdout).toMatch(
      new RegExp(`^settings +wrong +${name} \\("${protocol}://…@example\\.org/"`, 'm'),
    )
  }
})
