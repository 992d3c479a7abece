import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'

import { readCommands } from '../../../../test/support/deploy-recipes.ts'
import { dataDirectory, temporaryDirectory } from '../../../../test/support/server.ts'
import { mountSmallDisk } from '../../../../test/support/small-disk.ts'
import { OperatorError } from '../../../settings/operator-error.ts'
import { ensureCluster } from './cluster.ts'
import { acceptsConnections, trimLog } from './start-stop.ts'

test("PostgreSQL's log is truncated when it is too long, and one other file gets its contents", async () => {
  const directory = await temporaryDirectory()
  const file = join(directory.path, 'postgres.log')
  await trimLog(directory.path)
  await writeFile(file, 'short')
  await trimLog(directory.path)
  expect(await readFile(file, 'utf8')).toBe('short')
  const long = 'x'.repeat(5 * 1024 * 1024 + 1)
  await writeFile(file, long)
  await trimLog(directory.path)
  expect(await readFile(file, 'utf8')).toBe('')
  expect((await readFile(`${file}.1`, 'utf8')).length).toBe(long.length)
})

test('a DATA_DIR of another user, or that others may write to, is refused', async () => {
  const directory = await temporaryDirectory()
  const expectRefusal = async () => {
    const error: unknown = await ensureCluster(directory.path, true).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(OperatorError)
    expect(await readdir(directory.path)).toEqual([])
    return String(error)
  }
  for (const mode of [0o777, 0o720]) {
    await chmod(directory.path, mode)
    expect(await expectRefusal()).toContain('which others may write to')
  }
  await chmod(directory.path, 0o700)
  const { uid } = await stat(directory.path)
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
  expect(await expectRefusal()).toContain(`which belongs to another user (${uid})`)
  getuid.mockRestore()
})

test('a database is created only in an empty DATA_DIR, even after an interrupted start', async () => {
  const directory = await temporaryDirectory()
  let creations = 0
  const beforeCreation = async () => {
    creations += 1
    throw new Error('not now')
  }
  const start = () => ensureCluster(directory.path, true, { beforeCreation })
  const ignoredNames = ['lost+found', `pgdata.${randomUUID()}`, '.snapshots']
  for (const name of ignoredNames) await mkdir(join(directory.path, name))
  await expect(start()).rejects.toThrow('not now')
  await mkdir(join(directory.path, 'pgdata-17'))
  await writeFile(join(directory.path, 'postgres.log'), '')
  await expect(start()).rejects.toThrow(
    `DATA_DIR is "${directory.path}", where there is pgdata-17, postgres.log but no database (pgdata): put`,
  )
  expect(creations).toBe(1)
  expect((await readdir(directory.path)).toSorted()).toEqual(
    [...ignoredNames, 'pgdata-17', 'postgres.log'].toSorted(),
  )
})

test('after the documented commands put the database of a container aside, another one is created', async () => {
  const { path: dataDir } = await temporaryDirectory()
  await mkdir(join(dataDir, 'pgdata'))
  for (const name of ['postgres.log', 'postgres.log.1']) await writeFile(join(dataDir, name), '')
  const [, goBack = ''] = await readCommands('docs/operate.md', 'In a container', { '/data/': `${dataDir}/` })
  const [, command = ''] = /sh -c '(.*pgdata.*)'$/m.exec(goBack) ?? []
  await promisify(execFile)('sh', ['-c', command])
  const beforeCreation = () => Promise.reject(new Error('not now'))
  await expect(ensureCluster(dataDir, true, { beforeCreation })).rejects.toThrow('not now')
  expect((await readdir(join(dataDir, '.newer'))).toSorted()).toEqual([
    'pgdata',
    'postgres.log',
    'postgres.log.1',
  ])
})

test('a DATA_DIR that is a file, or a link to nothing, is refused with a sentence', async () => {
  const directory = await temporaryDirectory()
  const file = join(directory.path, 'file')
  await writeFile(file, '')
  await chmod(file, 0o600)
  const link = join(directory.path, 'link')
  await symlink(join(directory.path, 'nowhere'), link)
  for (const [path, code] of [
    [file, 'ENOTDIR'],
    [join(file, 'below'), 'ENOTDIR'],
    [link, 'ENOENT'],
  ] as const) {
    const error: unknown = await ensureCluster(path, true).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(OperatorError)
    expect(String(error)).toContain(`DATA_DIR is "${path}", which cannot be used (${code}): name a directory`)
  }
  expect(await readdir(directory.path)).toEqual(['file', 'link'])
})

test('a database that cannot be created or started says why, also if the disk is full', async ({ skip }) => {
  const directory = await temporaryDirectory()
  const dataDir = join(directory.path, 'small')
  await mountSmallDisk(dataDir, '80m', skip)
  const ballast = join(dataDir, '.ballast')
  await writeFile(ballast, Buffer.alloc(70 * 1024 * 1024))
  await expect(ensureCluster(dataDir, true)).rejects.toThrow(
    /^initdb failed: could not .*: No space left on device$/,
  )
  await rm(ballast)
  const cluster = await ensureCluster(dataDir, true)
  await cluster.stop()
  const log = join(dataDir, 'postgres.log')
  await rm(log)
  await mkdir(log)
  await expect(ensureCluster(dataDir, false)).rejects.toThrow(
    /^pg_ctl failed: .*postgres\.log: Is a directory$/,
  )
  await rmdir(log)
  // The disk takes what fits.
  await writeFile(ballast, Buffer.alloc(80 * 1024 * 1024)).catch(() => {})
  await expect(ensureCluster(dataDir, false)).rejects.toThrow(
    `The disk of DATA_DIR ("${dataDir}") is full: make room (pg_ctl failed: see postgres.log in DATA_DIR).`,
  )
})

test('a database is locked while it runs, so that no other container starts a second server on its files', async () => {
  const directory = await dataDirectory('cluster')
  const files = join(directory.path, 'pgdata')
  // Stands in for a server in another container, and holds the lock for a second. The start waits that long.
  const holder = spawn('flock', ['--no-fork', files, 'sh', '-c', 'echo; exec sleep 1'])
  await once(holder.stdout, 'data')
  const cluster = await ensureCluster(directory.path, false)
  expect(holder.exitCode).toBe(0)
  await expect(promisify(execFile)('flock', ['--nonblock', files, 'true'])).rejects.toMatchObject({ code: 1 })
  await cluster.stop()
  await promisify(execFile)('flock', [files, 'true'])
})

test('a database starts without a lock if there is no flock(1)', async () => {
  const directory = await dataDirectory('cluster')
  const programs = join(directory.path, 'programs')
  await mkdir(programs)
  for (const name of ['unshare', 'true']) await symlink(`/usr/bin/${name}`, join(programs, name))
  vi.stubEnv('PATH', programs)
  const cluster = await ensureCluster(directory.path, false)
  expect(await acceptsConnections(join(directory.path, '.s.PGSQL.5432'))).toBe(true)
  await cluster.stop()
  vi.unstubAllEnvs()
})

test('a socket of a frozen server counts as listening, even when its queue is full', async () => {
  const directory = await temporaryDirectory()
  const socket = join(directory.path, 'socket')
  const listen = `require('net').createServer().listen({ path: '${socket}', backlog: 1 }, () => console.log())`
  const server = spawn(process.execPath, ['-e', listen])
  await once(server.stdout, 'data')
  server.kill('SIGSTOP')
  for (let tries = 0; tries < 10; tries += 1) expect(await acceptsConnections(socket)).toBe(true)
  server.kill('SIGKILL')
  await once(server, 'exit')
  expect(await acceptsConnections(socket)).toBe(false)
})
