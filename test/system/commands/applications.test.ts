import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir, readFile, symlink } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'

import { csvHeader, operatorColumns } from '../../../src/application/csv.ts'
import { openDatabase } from '../../../src/server/database/database.ts'
import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { cannotRun, noMount } from '../../support/requirements.ts'
import { outputOf } from '../../support/output.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startReceiver } from '../../support/receiver.ts'
import { runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { valuesOf } from '../../support/sql.ts'
import { makeUnresponsive } from '../../support/unresponsive-folder.ts'

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let settings: Record<string, string>

beforeAll(async () => {
  directory = await temporaryDirectory()
  settings = { DATA_DIR: directory.path }
})

const list = async (...args: string[]) => (await runCommand(['applications', ...args], settings)).stdout

describe.sequential('commands on one database, from an empty folder on', { shuffle: false }, () => {
  test('a command that finds no database says so, and creates none', async () => {
    const { code, stdout, stderr } = await runCommand(['applications'], settings)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^DATA_DIR is ".*", where there is no database: .*start the server once\.\n$/)
    expect(await readdir(directory.path)).toEqual([])
  })

  test('the list says that there are no applications yet', async () => {
    const server = await startServer(settings)
    await server.stop()
    await server.waitForOutput('"msg":"stopped"}\n')
    const lines = server.output().trimEnd().split('\n')
    expect(lines.filter((line) => line.includes('migration'))).toEqual([
      expect.stringMatching(/^The schema was created by \d+ migrations\.$/),
    ])
    expect(lines.filter((line) => line.includes('as root'))).toHaveLength(process.getuid?.() === 0 ? 1 : 0)
    // The address is the last line of the start, even if log lines are delayed.
    expect(lines.at(-2)).toBe(`Unplugged. is ready at ${server.origin}/`)
    expect(await list()).toBe('No applications yet.\n')
  })

  test('applications are listed with and without a running server', async () => {
    const server = await startServer(settings)
    expect(server.output()).not.toContain('The schema')
    const hostile = anApplication({
      first_name: '\u001b[31mEve\u0007\u009b',
      company: '=1+1',
      linkedin: '@eve',
      phone: '+49 (30) 123-4',
      reason: 'a "quoted", line\nand another\rand a third',
      custom_solution: '-2+3+cmd|x',
    })
    await send(server.origin, hostile)
    await send(server.origin, anApplication({ first_name: 'Later' }))
    const whileRunning = await list()
    expect(whileRunning.indexOf('Later')).toBeLessThan(whileRunning.indexOf('Eve'))
    expect(whileRunning).toContain('2 applications.')
    // oxlint-disable-next-line no-control-regex
    expect(whileRunning).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(await server.stop()).toBe(0)
    expect(await list()).toBe(whileRunning)

    const json = await list('--json')
    expect(json).not.toContain('\u009b')
    const [, second] = json
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(second).toMatchObject(hostile)

    const csv = await list('--csv')
    expect(csv.startsWith(`\ufeff${csvHeader(operatorColumns)}`)).toBe(true)
    expect(csv).toContain(`,+49 (30) 123-4,'@eve,'=1+1,travel,"Yes, travel related",'-2+3+cmd|x,`)
    expect(csv).toContain('"a ""quoted"", line\nand another\rand a third"')
    expect(csv.endsWith('\r\n')).toBe(true)
    // oxlint-disable-next-line no-control-regex
    expect(csv).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/)
  })

  test('an application is erased for good, after the command has asked for confirmation', async () => {
    const rows = (await list('--json'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
    const [id = '', other = ''] = rows.map((row) => row['id'])
    const erase = (input: string, ...args: string[]) => runCommand(['applications', ...args], settings, input)
    const refused = await erase('n\n', '--delete', id)
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Nothing was erased.') as string,
    })
    expect(refused.stderr).toContain(
      `Erase the application of Later ${rows[0]?.['last_name']} <${rows[0]?.['email']}> for good?`,
    )
    expect(await erase('', '--delete', id)).toMatchObject({ code: 1 })
    expect(await list('--json')).toContain(id)

    // Several applications are erased together, or none of them.
    const unknownId = '00000000-0000-4000-8000-000000000000'
    const withUnknown = await erase('', '--delete', id, '--delete', unknownId, '--yes')
    expect(withUnknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `There is no application ${unknownId}: nothing was erased.\n`,
      ) as string,
    })
    expect(await list('--json')).toContain(id)
    const both = await erase('', '--delete', id, '--delete', other, '--yes')
    expect(both).toMatchObject({ code: 0, stdout: 'Erased 2 applications.\n' })
    expect(await list()).toBe('No applications yet.\n')
    // The desk's history records the erasure.
    const database = await openDatabase(
      { dataDir: directory.path, databaseUrl: undefined },
      { schema: 'check' },
    )
    expect(
      await database.owner`select author, application_id, detail from private.history where kind = 'erased'`,
    ).toEqual([{ author: 'operator', application_id: null, detail: { applications: 2 } }])
    await database.close()
    const server = await startServer(settings)
    expect(server.output()).toContain('\nNo mail server is set (SMTP_URL): no emails are sent.\n')
    await send(server.origin, anApplication())
  })

  test('a command names its database on the standard error, not in its output', async () => {
    const { stdout, stderr } = await runCommand(['applications', '--csv', '--no-bom'], settings)
    expect(stderr).toBe(`Using PostgreSQL in ${directory.path}.\n`)
    expect(stdout).toMatch(/^id,created_at,/)
  })

  test('everything about a person is written as JSON, with the backups that contain their applications', async () => {
    const [stored] = (await list('--json')).split('\n')
    const { id, email } = JSON.parse(stored ?? '') as { id: string; email: string }
    const { path } = await temporaryDirectory()
    const backup = join(path, 'a-backup')
    expect(await runCommand(['backup', '--to', backup], settings)).toMatchObject({ code: 0 })
    const withBackups = { ...settings, BACKUP_DIR: path }
    const about = await runCommand(['applications', '--all-about', ` ${email.toUpperCase()}`], withBackups)
    expect(JSON.parse(about.stdout)).toMatchObject({
      applications: [{ id, consent: { given: true }, status: { status: 'new' } }],
      left_out: 0,
      account: null,
      at: expect.stringMatching(/^20/) as string,
      backups: [{ folder: backup, applications: 1 }],
    })
    expect(about.stderr).toBe(
      `Using PostgreSQL in ${directory.path}.\nSearched 1 backup in ${path}. Copies in other places were not searched.\n`,
    )
    // Without BACKUP_DIR, the command says that it searched no backup.
    const without = await runCommand(['applications', '--all-about', email], settings)
    expect(JSON.parse(without.stdout)).toMatchObject({ backups: [] })
    expect(without.stderr).toContain('\nBACKUP_DIR is not set: no backup was searched.\n')

    // An erased person may still be in a backup.
    await send((await startServer(settings)).origin, anApplication({ email: 'gone@example.org' }))
    const [newest] = (await list('--json')).split('\n')
    expect(await runCommand(['backup', '--to', join(path, 'another')], settings)).toMatchObject({ code: 0 })
    const { id: goneId } = JSON.parse(newest ?? '') as { id: string }
    await runCommand(['applications', '--delete', goneId, '--yes'], settings)
    const erased = await runCommand(['applications', '--all-about', 'gone@example.org'], withBackups)
    expect(JSON.parse(erased.stdout)).toMatchObject({
      applications: [],
      backups: [{ folder: join(path, 'another'), applications: 1 }],
    })
    const nobody = await runCommand(['applications', '--all-about', 'no\u001b[31m@example.org'], withBackups)
    expect(nobody).toMatchObject({ code: 1, stdout: '' })
    expect(nobody.stderr).toContain('\nNothing is stored about no\ufffd[31m@example.org.\n')
    const mixed = await runCommand(['applications', '--all-about', email, '--delete', id], settings)
    expect(mixed).toMatchObject({
      code: 1,
      stderr: '--all-about writes JSON and changes nothing: do not combine it with --csv or --delete.\n',
    })
  })

  test('output to a full disk is reported in one sentence', async () => {
    const { stderr } = await promisify(execFile)(
      'sh',
      ['-c', `${process.execPath} start.js applications > /dev/full; test $? = 1`],
      { env: { ...process.env, ...settings } },
    )
    expect(stderr).toMatch(/^Using .*\nNot everything could be written \(ENOSPC\): free disk space .*\n$/)
  })

  test('the newest applications are listed first', async () => {
    const database = await openDatabase(
      { dataDir: directory.path, databaseUrl: undefined },
      { schema: 'check' },
    )
    await database.owner`delete from public.retreat_applications`
    const names = ['second', 'first', 'third']
    for (const [index, first_name] of names.entries()) {
      // The times are not in the order of insertion.
      const created_at = new Date(Date.UTC(2026, 0, [2, 3, 1][index]))
      await database.owner`
      insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name }), created_at })}`
    }
    await database.close()
    const listed = (await list('--json')).trim().split('\n')
    expect(listed.map((line) => (JSON.parse(line) as { first_name: string }).first_name)).toEqual([
      'first',
      'second',
      'third',
    ])
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'a command that %s interrupts leaves no database running',
    async (signal) => {
      const { PATH = '', HOME = '' } = process.env
      const child = spawn(process.execPath, ['start.js', 'applications', '--delete', await anId()], {
        env: { PATH, HOME, ...settings },
      })
      let output = ''
      await new Promise<void>((resolve) => {
        child.stderr.on('data', (chunk: Buffer) => {
          output += chunk.toString()
          if (output.includes('for good?')) resolve()
        })
      })
      // Sent twice, as by the terminal and by npm.
      child.kill(signal)
      child.kill(signal)
      const [code] = (await once(child, 'exit')) as [number]
      expect(code).toBeGreaterThan(0)
      await expect(access(join(directory.path, '.s.PGSQL.5432'))).rejects.toThrow('ENOENT')
    },
  )

  const anId = async () => (JSON.parse((await list('--json')).split('\n')[0] ?? '') as { id: string }).id

  test('an export to a file shows its progress only on the terminal', async () => {
    const file = join(directory.path, 'export.csv')
    // `script` gives the command a terminal. Only the standard error goes to it here.
    const terminal = await promisify(execFile)(
      'script',
      [
        '--quiet',
        '--return',
        '--command',
        `${process.execPath} start.js applications --csv > ${file}`,
        '/dev/null',
      ],
      { env: { ...process.env, ...settings } },
    )
    expect(terminal.stdout).toContain('\r3 applications\r\n')
    expect(await readFile(file, 'utf8')).toMatch(
      /^\ufeffid,created_at(?!.*applications).*,true,new,[^\r\n]*\r\n$/s,
    )
  })

  test('the list shows the state of each delivery, and `webhooks --retry` retries failed deliveries', async () => {
    let status = 410
    const receiver = await startReceiver((_request, response) => response.writeHead(status).end('Busy\nnow'))
    const delivering = { ...settings, WEBHOOK_URL: receiver.origin }
    const server = await startServer(delivering)
    await server.waitForOutput('webhook given up')
    expect(await list()).toContain('Webhook       given up after 1 try, last response 410')
    expect((await runCommand(['webhooks'], settings)).stdout).toMatch(/given up +3\n/)
    status = 200
    expect((await runCommand(['webhooks', '--retry'], settings)).stdout).toBe(
      '3 deliveries that had been given up will be tried again.\n',
    )
    await server.waitForOutput('webhook delivered')
    expect(await list()).toMatch(/Webhook {7}delivered 2/)
    status = 500
    await send(server.origin, anApplication())
    await server.waitForOutput('webhook failed')
    expect(await list()).toMatch(/Webhook {7}1 try, next 2.*, last response 500/)
    expect((await runCommand(['webhooks', '--list'], settings)).stdout).toMatch(
      /^2.* {2}1 try, next 2\S+ \S+ \(\S+\) {2}[-0-9a-f]{36} {2}\S+@example\.com {2}500: Busy now\n$/,
    )

    // With `--all`, retries that wait for their time are made at once.
    const database = await openDatabase(
      { dataDir: directory.path, databaseUrl: undefined },
      { schema: 'check' },
    )
    await database.owner`
    update private.deliveries set attempts = 5, due_at = now() + interval '5 hours' where state = 'waiting'`
    await database.close()
    status = 200
    const retried = await runCommand(['webhooks', '--retry'], settings)
    expect(retried.stdout).toContain(
      'Still waiting for the next try of the schedule: 1 delivery. With --all they are tried now.',
    )
    const retriedAll = await runCommand(['webhooks', '--retry', '--all'], settings)
    expect(retriedAll.stdout).toContain('1 delivery that waited for the next try will be tried now.\n')
    await server.waitForOutput(/"attempt":6,"status":200/)
    expect(await server.stop()).toBe(0)
  })

  test('commands that run at the same time share the database, and the last one to end stops it', async () => {
    const first = openDatabase({ dataDir: directory.path, databaseUrl: undefined }, { schema: 'check' })
    const second = openDatabase({ dataDir: directory.path, databaseUrl: undefined }, { schema: 'check' })
    const [firstDatabase, secondDatabase] = await Promise.all([first, second])
    await firstDatabase.close()
    expect(await secondDatabase.owner`select 1 as one`).toEqual([{ one: 1 }])
    await secondDatabase.close()
    await expect(access(join(directory.path, '.s.PGSQL.5432'))).rejects.toThrow('ENOENT')
  })

  test('with DATABASE_URL the server and the commands use that database', async () => {
    const postgres = await startPostgres()
    const withUrl = { DATA_DIR: '/nowhere', DATABASE_URL: postgres.url() }
    const server = await startServer(withUrl)
    expect(server.output()).toContain('PostgreSQL at 127.0.0.1:')
    await send(server.origin, anApplication())
    expect((await runCommand(['applications'], withUrl)).stdout).toContain('1 application.')
    expect(await server.stop()).toBe(0)
  })

  test('a port that is in use is reported in one sentence, before a database is created', async () => {
    const dataDir = join(directory.path, 'new')
    const otherProgram = createServer()
    await new Promise<void>((resolve) => otherProgram.listen(0, '127.0.0.1', resolve))
    const { port } = otherProgram.address() as AddressInfo
    for (const [name, value] of [
      ['PORT', String(port)],
      ['METRICS_ADDRESS', `127.0.0.1:${port}`],
    ] as const) {
      for (const path of [directory.path, dataDir]) {
        const { code, stderr } = await runCommand([], { ...settings, DATA_DIR: path, [name]: value })
        expect(code).toBe(1)
        expect(stderr).toBe(
          `${name} is "${value}", which another program uses: stop that program, or set ${name} to another port.\n`,
        )
      }
    }
    await expect(access(dataDir)).rejects.toThrow('ENOENT')
  })

  test.each([
    [{ PORT: 'web' }, 'PORT is "web"'],
    [{ HOST: 'no-such-host.invalid' }, 'HOST is "no-such-host.invalid"'],
    [{ DATA_DIR: '/etc/hostname/data' }, 'DATA_DIR is "/etc/hostname/data"'],
    [{ DATA_DIR: '/proc/x' }, 'DATA_DIR is "/proc/x"'],
    [{ DATA_DIR: `/tmp/${'deep/'.repeat(30)}` }, 'should be shorter'],
  ])('a start with %o fails with one sentence', async (wrong, sentence) => {
    const { code, stderr, stdout } = await runCommand([], { ...settings, ...wrong })
    expect(code).toBe(1)
    expect(stderr).toContain(sentence)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stdout).not.toContain('is ready')
  })

  test('a start that cannot read the files of the program names them, and no setting', async ({ skip }) => {
    const program = await temporaryDirectory()
    const { path } = program
    await promisify(execFile)('cp', ['-r', 'build', 'dist', 'start.js', 'package.json', path])
    await symlink(join(process.cwd(), 'node_modules'), join(path, 'node_modules'))
    const assets = join(path, 'dist', 'assets')
    // Root, too, may not read this file system, which belongs to another user.
    const restore = await makeUnresponsive(assets, 65_534).catch(() => cannotRun(skip, noMount))
    const child = spawn(process.execPath, ['start.js'], {
      cwd: path,
      env: { ...process.env, PORT: '0', ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const { output } = outputOf(child)
    expect(await once(child, 'close')).toEqual([1, null])
    expect(output()).toBe(
      `"${assets}" cannot be used (EACCES): see that it is there, and that this user may read it.\n`,
    )
    await restore()
  })

  test('an unknown option is reported with the known options', async () => {
    const { code, stderr } = await runCommand(['applications', '--xml'], settings)
    expect(code).toBe(1)
    expect(stderr).toContain("Unknown option '--xml'")
    expect(stderr).toContain('--csv')
  })
})
