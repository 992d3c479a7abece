import { execFile } from 'node:child_process'
import {
  access,
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'

import { packRelease, sizeOf, unpackRelease } from '../support/archive.ts'
import { send } from '../support/send-application.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { anApplication } from '../support/form.ts'
import { freePort } from '../support/ports.ts'
import { startPostgres } from '../support/postgres.ts'
import { endDatabase } from '../support/end-with-test.ts'
import { readCommands } from '../support/deploy-recipes.ts'
import { startServer, temporaryDirectory, type RunningServer } from '../support/server.ts'

const run = promisify(execFile)
const { PATH = '', HOME = '' } = process.env
const operate = 'docs/operate.md'
const fixtures = resolve('test/fixtures/1.0.0')

/** The folder of an installed 1.0.0. */
let formerFolder: string
let archive: string
/** The name of this version's folder in the docs, and in the archive. */
let folder: Record<'inDocs' | 'ours', string>
/** The docs go back to the release before this version. The tests go back to 1.0.0. */
const formerInDocs = { 'unplugged-1.2.1': 'unplugged-1.0.0' }

beforeAll(async () => {
  const { path } = await temporaryDirectory()
  formerFolder = join(path, 'former')
  archive = await packRelease()
  const [, inDocs = ''] = /\bnew=(\S+)/.exec(await readFile(operate, 'utf8')) ?? []
  folder = { inDocs, ours: basename(archive, '.tgz') }
  await unpackRelease(join(fixtures, 'unplugged-1.0.0.tgz'), formerFolder)
  await run('npm', ['ci', '--omit=dev'], { cwd: formerFolder, env: { PATH, HOME } })
})

/**
 * Runs commands that an operator with a strict umask pastes into a shell.
 *
 * @returns The output and the exit code.
 */
async function paste(commands: string, cwd: string, environment: Record<string, string> = {}) {
  const options = { cwd, env: { PATH, HOME, ...environment } }
  return run('sh', ['-c', `umask 077\n${commands}`], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  )
}

/** The files and folders below a folder that other users cannot read. */
async function unreadableIn(path: string) {
  const { stdout } = await run('find', [path, '!', '-type', 'l', '!', '-perm', '-o=r'])
  return stdout.trim().split('\n').filter(Boolean)
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

test('the release archive can be installed as documented, has no development tools, and starts', async () => {
  const directory = await temporaryDirectory()
  await cp(archive, join(directory.path, basename(archive)))
  const [install = ''] = (
    await readCommands(operate, 'Install from the release archive', {
      [folder.inDocs]: folder.ours,
      'npm ci --omit=dev && npm start': 'npm ci --omit=dev',
    })
  ).slice(-1)
  expect(await paste(install, directory.path)).toMatchObject({ code: 0 })
  const product = join(directory.path, 'unplugged')
  // The server's user has to read everything but the settings, which are for the owner.
  expect(await unreadableIn(join(directory.path, folder.ours))).toEqual([
    join(directory.path, folder.ours, '.env'),
  ])
  const inProduct = { cwd: product, env: { PATH, HOME } }
  const megabytes = await sizeOf(join(directory.path, folder.ours))
  console.log(
    `The release archive takes ${(await sizeOf(archive)).toFixed(1)} MB, installed ${megabytes.toFixed(0)} MB.`,
  )
  expect(megabytes).toBeLessThan(75)
  for (const excluded of ['vite', 'vitest', 'fastify', 'react'])
    await expect(access(join(product, 'node_modules', excluded))).rejects.toThrow('ENOENT')
  await expect(run('npm', ['run', '--silent', 'demo'], inProduct)).rejects.toMatchObject({
    stderr: 'The demonstration is part of the repository, and not of the release archive.\n',
  })

  // A copy may make package.json newer than the build, which must not start another build.
  await utimes(join(product, 'package.json'), Date.now() / 1000, Date.now() / 1000)
  const application = anApplication()
  const server = await startServer({}, product)
  expect(server.output()).not.toContain('Building')
  expect(await send(server.origin, application)).toBe(201)
  for (const page of ['/', '/desk'])
    expect((await fetch(await scriptOf(server.origin, page))).status).toBe(200)
  expect(await server.stop()).toBe(0)
  // The data are beside the folder of the version.
  expect(await readdir(directory.path)).toContain('unplugged-data')
  const { stdout } = await run('npm', ['run', '--silent', 'applications', '--', '--json'], inProduct)
  expect(JSON.parse(stdout)).toMatchObject(application)
})

/** The address of a page's script. */
async function scriptOf(origin: string, page = '/') {
  const [script] = /assets\/[\w.-]+\.js/.exec(await (await fetch(origin + page)).text()) ?? []
  return `${origin}/${script}`
}

/**
 * Makes a folder that stands for a machine with 1.0.0, installed in `unplugged` as its docs say. The folders of the docs are
 * below its root. It has its own `systemctl` and `sudo`.
 *
 * @param settings The database, and the backup folder.
 * @param moveDataAside The effect of the program `move-aside`, which a test with its own PostgreSQL runs instead of the docs' `mv`.
 */
async function formerMachine(settings: Record<string, string>, moveDataAside = async () => {}) {
  const { path: root } = await temporaryDirectory()
  const [opt, dataDir, backups, bin] = ['opt', 'var/lib/unplugged', 'var/backups/unplugged', 'bin'].map(
    (path) => join(root, path),
  ) as [string, string, string, string]
  for (const path of [opt, dataDir, backups, bin]) await mkdir(path, { recursive: true, mode: 0o700 })
  const PORT = String(await freePort())
  const aside = join(root, 'var/lib', folder.ours)
  const product = join(opt, 'unplugged')
  await run('cp', ['-al', formerFolder, product])
  const lines = Object.entries({ PORT, ...settings }).map(([name, value]) => `${name}=${value}\n`)
  const settingsFile = join(product, '.env')
  await writeFile(settingsFile, lines.join('').replaceAll('/var/', `${root}/var/`), { mode: 0o640 })

  let server: RunningServer | undefined
  /** The effects of the machine's programs, by the path that they request. */
  const service: Record<string, () => Promise<unknown>> = {
    start: async () => (server = await startServer({ PORT }, product)),
    stop: async () => expect(await server?.stop()).toBe(0),
    restart: async () => {
      await service['stop']?.()
      await service['start']?.()
    },
    'move-aside': moveDataAside,
  }
  const systemd = createServer((request, response) => {
    const effect = service[request.url?.slice(1) ?? '']?.() ?? Promise.reject(new Error(request.url))
    effect.then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((done) => systemd.listen(0, '127.0.0.1', done))
  const curl = `exec curl --silent --show-error --fail http://127.0.0.1:${(systemd.address() as AddressInfo).port}`
  const programs = {
    systemctl: `test "$2" = unplugged && ${curl}/$1`,
    'move-aside': `${curl}/move-aside`,
    sudo: 'test "$1 $2" = "-u unplugged" && shift 2 && exec "$@"',
  }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(bin, name), 0o755)
  }
  atTestEnd(() => void systemd.close())
  for (const path of [dataDir, aside]) atTestEnd(() => endDatabase(path))

  const origin = `http://127.0.0.1:${PORT}`
  return {
    origin,
    root,
    opt,
    product,
    backups,
    output: () => server?.output() ?? '',
    /** Texts in the commands of the docs, with the values that replace them on this machine. */
    replacements: {
      [folder.inDocs]: folder.ours,
      '/opt': opt,
      '/var/lib/unplugged': dataDir,
      '/var/backups/unplugged': backups,
    },
    paste: (commands: string, environment: Record<string, string> = {}) =>
      paste(commands, root, { PATH: `${bin}:${PATH}`, ...environment }),
    /** Runs a command of the version in `opt/unplugged`, which is a link after an update. Returns the output. */
    command: async (...args: string[]) =>
      (await run(process.execPath, [join(product, 'start.js'), ...args], { env: { PATH, HOME } })).stdout,
  }
}

type Machine = Awaited<ReturnType<typeof formerMachine>>

const emailsInOrder = (lines: string) =>
  lines
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { email: string }).email)

const emailsOf = (lines: string) => emailsInOrder(lines).toSorted()

/** Fills the database of 1.0.0 with the fixtures, and sends an application. */
async function fill({ command, origin, paste: pasteOnMachine }: Machine) {
  await command('restore', '--from', join(fixtures, 'backup'))
  await command('door', '--open')
  await pasteOnMachine('systemctl start unplugged')
  expect(await send(origin, anApplication({ email: 'before@example.org' }))).toBe(201)
}

/** Updates the machine as documented, after an attempt that fails because npm's registry cannot be reached. */
async function update({ paste: pasteOnMachine, command, origin, opt }: Machine) {
  const [install = '', makeLink = ''] = await readCommands(operate, 'Update', {
    [folder.inDocs]: folder.ours,
    '/opt': opt,
  })
  const before = await command('applications', '--json')
  const script = await scriptOf(origin)
  await cp(archive, join(opt, basename(archive)))
  expect(await pasteOnMachine(makeLink)).toMatchObject({ code: 0 })

  const offline = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
  const failed = await pasteOnMachine(install, { ...offline, npm_config_cache: join(opt, 'no-cache') })
  expect(failed.code).not.toBe(0)
  expect(failed.stderr).toContain('ECONNREFUSED')
  expect(await readlink(join(opt, 'unplugged'))).toBe('unplugged-1.0.0')
  // 1.0.0 is still complete, including PostgreSQL's programs.
  await pasteOnMachine('systemctl restart unplugged')
  expect(await command('applications', '--json')).toBe(before)

  expect(await pasteOnMachine(install)).toMatchObject({ code: 0 })
  expect(await readlink(join(opt, 'unplugged'))).toBe(folder.ours)
  const settingsFile = join(opt, folder.ours, '.env')
  expect(await unreadableIn(join(opt, folder.ours))).toEqual([settingsFile])
  expect(await modeOf(settingsFile)).toBe('640')
  expect(await command('applications', '--json')).toBe(before)
  expect((await fetch(script)).status).toBe(200)
  return before
}

/** The email addresses of applications after the update, in their order. */
const later = ['since@example.org', 'since-2@example.org', 'since-3@example.org']

/** Sends applications after the update, and erases an earlier one. Returns the erased email addresses. */
async function useAfterUpdate({ origin, command }: Machine, before: string) {
  for (const email of later) expect(await send(origin, anApplication({ email }))).toBe(201)
  const [erased = ''] = before.split('\n')
  await command('applications', '--yes', '--delete', (JSON.parse(erased) as { id: string }).id)
  return emailsOf(erased)
}

test('an update from 1.0.0 can be installed and undone as documented, and later applications are carried over', async () => {
  const machine = await formerMachine({
    DATA_DIR: '/var/lib/unplugged',
    BACKUP_DIR: '/var/backups/unplugged',
  })
  const { origin, opt, backups, command, replacements } = machine
  await fill(machine)
  const before = await update(machine)
  expect(machine.output()).toMatch(
    /^The schema was updated by \d+ migrations\. docs\/operate\.md#go-back says how to go back/m,
  )
  const [erased = ''] = await useAfterUpdate(machine, before)
  await expect(
    run(process.execPath, [join(opt, 'unplugged-1.0.0/start.js'), 'applications']),
  ).rejects.toMatchObject({
    stderr: expect.stringContaining('was brought up to date by a newer version') as string,
  })
  await command('backup', '--to', join(backups, 'since'))

  const [, backup = ''] = /"folder":"([^"]+)".*"msg":"backup made"/.exec(machine.output()) ?? []
  await rename(backup, join(backups, 'before'))
  const [goBack = '', readAside = '', sendAgain = '', remove = ''] = await readCommands(operate, 'Go back', {
    ...replacements,
    ...formerInDocs,
    ' -o unplugged -g unplugged': '',
    'http://127.0.0.1:3000': origin,
    '2026-11-25T02:00:00': timeOf(backup),
  })
  expect(await machine.paste(goBack)).toMatchObject({ code: 0 })
  expect(await readlink(join(opt, 'unplugged'))).toBe('unplugged-1.0.0')
  await expect(command('backup', '--check', '--from', join(backups, 'since'))).rejects.toMatchObject({
    stderr: expect.stringContaining('was made by a newer version') as string,
  })
  const remaining = emailsOf(before).filter((email) => email !== erased)
  expect(emailsOf(await command('applications', '--json'))).toEqual(remaining)

  const carriedOver = await machine.paste(`${readAside}${sendAgain}`)
  expect(carriedOver).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^(409\n)*(201\n){3}$/) as string,
  })
  const carried = await command('applications', '--json')
  expect(emailsOf(carried)).toEqual([...remaining, ...later].toSorted())
  // The newest is first.
  expect(emailsInOrder(carried).slice(0, 3)).toEqual(later.toReversed())
  const since = join(opt, 'since')
  expect(await readFile(join(since, 'all.csv'), 'utf8')).toContain('since@example.org')
  for (const [path, mode] of [
    [since, '700'],
    [join(since, 'all.csv'), '600'],
    [join(since, 'all.jsonl'), '600'],
  ] as const)
    expect(await modeOf(path)).toBe(mode)
  expect(await machine.paste(remove)).toMatchObject({ code: 0 })
  expect(await readdir(opt)).not.toContain('since')
  expect(await readdir(join(machine.root, 'var/lib'))).toEqual(['unplugged'])
  expect(await readdir(backups)).not.toContain('before')
  await machine.paste('systemctl stop unplugged')
})

/** The time in the name of a backup. */
const timeOf = (backup: string) =>
  /unplugged-([\d-]+T)(\d\d)-(\d\d)-(\d\d)Z$/.exec(backup)?.slice(1).join(':').replace('T:', 'T') ?? ''

test('if the database is inside the folder of 1.0.0, the documented commands move it beside the folders of the versions', async () => {
  const machine = await formerMachine({})
  const { opt, command } = machine
  atTestEnd(() => endDatabase(join(opt, 'unplugged-data')))
  await fill(machine)
  const before = await command('applications', '--json')
  const [, makeLink = '', moveOut = ''] = await readCommands(operate, 'Update', { '/opt': opt })
  const move = `systemctl stop unplugged\n${makeLink}${moveOut}systemctl start unplugged`
  expect(await machine.paste(move)).toMatchObject({ code: 0 })
  expect(await readdir(opt)).toContain('unplugged-data')
  expect(machine.output()).not.toContain('The database is new')
  expect(await command('applications', '--json')).toBe(before)
  await machine.paste('systemctl stop unplugged')
})

test('an update from 1.0.0 with DATABASE_URL can be undone with a manual backup, and the start says that it made no backup', async () => {
  const postgres = await startPostgres()
  const [make = ''] = await readCommands(operate, 'A PostgreSQL of your own', {}, 'sql')
  const [moveAside = '', removeAside = ''] = await readCommands(operate, 'Go back', {}, 'sql')
  const runStatements = async (statements: string) => {
    for (const statement of statements.split(';\n').slice(0, -1)) await postgres.admin.unsafe(statement)
  }
  await runStatements(make)
  const url = postgres.url('unplugged', 'unplugged')
  const machine = await formerMachine({ DATABASE_URL: url }, () => runStatements(moveAside))
  const { origin, opt, backups, command } = machine
  await fill(machine)
  await command('backup', '--to', join(backups, 'before'))
  const before = await update(machine)
  expect(machine.output()).toMatch(
    /^The schema was .* No backup was made before the update, since BACKUP_DIR is not set/m,
  )
  await useAfterUpdate(machine, before)

  const [goBack = '', readAside = '', sendAgain = ''] = await readCommands(operate, 'Go back', {
    [folder.inDocs]: folder.ours,
    ...formerInDocs,
    [`mv /var/lib/unplugged /var/lib/${folder.ours} &&\n`]: 'move-aside &&\n',
    'install -d -m 700 -o unplugged -g unplugged /var/lib/unplugged &&\n': '',
    [`DATA_DIR=/var/lib/${folder.ours}`]: `DATABASE_URL=${postgres.url('unplugged_newer', 'unplugged')}`,
    '/opt': opt,
    '/var/backups/unplugged': backups,
    'http://127.0.0.1:3000': origin,
  })
  expect(await machine.paste(goBack)).toMatchObject({ code: 0 })
  expect(await command('applications', '--json')).toBe(before)
  expect(await machine.paste(`${readAside}${sendAgain}`)).toMatchObject({ code: 0 })
  expect(emailsOf(await command('applications', '--json'))).toEqual(
    [...emailsOf(before), ...later].toSorted(),
  )
  await runStatements(removeAside)
  expect(
    await postgres.admin.unsafe("select datname from pg_database where datname like 'unplugged%'"),
  ).toMatchObject([{ datname: 'unplugged' }])
  await machine.paste('systemctl stop unplugged')
})
