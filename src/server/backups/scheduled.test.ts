import { cp, mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { atTestEnd } from '../../../test/support/cleanup.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import { temporaryDirectory } from '../../../test/support/server.ts'
import type { Database } from '../database/database.ts'
import { backUp } from './backup.ts'
import { backupName, listBackups, newestBackup } from './folder.ts'
import type { Manifest } from './manifest.ts'
import { checkBackup } from './read-backup.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import { visitor } from '../database/connection/pools.ts'
import { anApplication } from '../../../test/support/form.ts'
import { advisoryLocks } from '../database/connection/advisory-locks.ts'
import { createScheduledBackups, lastOccurrence } from './scheduled.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

/** Creates a folder for backups, which is removed when the test ends. */
async function createBackupDirectory() {
  const directory = await temporaryDirectory()
  const dir = join(directory.path, 'backups')
  await mkdir(dir)
  return dir
}

/** Creates the automatic backups of a server, with a clock that the test sets. */
function createServer(dir: string, clock: { now: Date }, keep = 14) {
  const logged: string[] = []
  const log = {
    info: ({ folder }: { folder?: string }, message: string) => logged.push(`${message} ${folder ?? ''}`),
    error: (_details: object, message: string) => logged.push(message),
  }
  const backups = createScheduledBackups({ dir, at: '03:00', keep, log, now: () => clock.now, interval: 10 })
  /** Resolves when the server has seen or made the backup of this moment. */
  const waitForBackup = async (moment: Date) => {
    await expect.poll(() => backups.state().newestAt).toEqual(moment)
  }
  return { ...backups, logged, waitForBackup }
}

const backupsIn = async (dir: string) => (await readdir(dir)).filter((name) => name !== 'erasures').toSorted()
const manifestOf = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest

test.each([
  ['an ordinary day', '03:00', '2026-06-10T02:59:59', '2026-06-09T03:00:00+02:00'],
  ['the moment itself', '03:00', '2026-06-10T03:00:00', '2026-06-10T03:00:00+02:00'],
  ['before the clocks go forward', '02:30', '2026-03-29T01:59:59+01:00', '2026-03-28T02:30:00+01:00'],
  ['after the clocks go forward', '02:30', '2026-03-29T03:30:00+02:00', '2026-03-29T03:30:00+02:00'],
  ['before the clocks go back', '02:30', '2026-10-25T02:40:00+02:00', '2026-10-25T02:30:00+02:00'],
  ['after the clocks go back', '02:30', '2026-10-25T02:40:00+01:00', '2026-10-25T02:30:00+02:00'],
  ['the day after the clocks go back', '02:30', '2026-10-26T02:29:00+01:00', '2026-10-25T02:30:00+02:00'],
])('a time of day occurs once a day in the local time zone: %s', (_, at, now, expected) => {
  const { TZ } = process.env
  atTestEnd(() => {
    if (TZ === undefined) delete process.env['TZ']
    else process.env['TZ'] = TZ
  })
  process.env['TZ'] = 'Europe/Berlin'
  expect(lastOccurrence(at, new Date(now)).toISOString()).toBe(new Date(expected).toISOString())
})

test('two servers make one backup at the start and one a day, and keep the newest three', async () => {
  const dir = await createBackupDirectory()
  const clock = { now: new Date(2026, 5, 1, 12) }
  const servers = [createServer(dir, clock, 3), createServer(dir, clock, 3)]
  for (const server of servers) server.start(database)
  const moments = [clock.now]
  await Promise.all(servers.map((server) => server.waitForBackup(clock.now)))
  for (let day = 2; day <= 5; day += 1) {
    clock.now = new Date(2026, 5, day, 3, 0, 1)
    moments.push(clock.now)
    await Promise.all(servers.map((server) => server.waitForBackup(clock.now)))
    expect(await backupsIn(dir)).toEqual(moments.slice(-3).map(backupName))
  }
  expect(servers.flatMap(({ logged }) => logged).toSorted()).toEqual(
    moments.map((moment) => `backup made ${join(dir, backupName(moment))}`),
  )
  expect(servers[0]?.state().failingSince).toBeUndefined()
  // The desk shows in its first steps that backups are made.
  await expect
    .poll(() => database.owner`select backed_up_at from private.first_steps`)
    .toEqual([{ backed_up_at: clock.now }])
})

test('a server that starts makes a backup only if the last one is older than a day', async () => {
  const dir = await createBackupDirectory()
  const clock = { now: new Date(2026, 5, 1, 12) }
  const first = createServer(dir, clock)
  first.start(database)
  await first.waitForBackup(clock.now)
  await first.stop()
  const [last] = await backupsIn(dir)
  clock.now = new Date(2026, 5, 2, 11, 59)
  const second = createServer(dir, clock)
  second.start(database)
  await second.waitForBackup(new Date(2026, 5, 1, 12))
  await second.stop()
  expect(await backupsIn(dir)).toEqual([last])
  clock.now = new Date(2026, 5, 2, 12, 1)
  const third = createServer(dir, clock)
  third.start(database)
  await third.waitForBackup(clock.now)
  expect(await backupsIn(dir)).toHaveLength(2)
})

test('a backup that an operator made in the last five minutes precedes an update, and no other does', async () => {
  const dir = await createBackupDirectory()
  const clock = { now: new Date(2026, 5, 1, 12) }
  const server = createServer(dir, clock)
  const recent = backupName(clock.now)
  await server.makeNow(database.owner)
  /** Begins an update this many seconds after the operator's backup. Returns the log, and removes a backup that was made. */
  const update = async (seconds: number) => {
    clock.now = new Date(2026, 5, 1, 12, 0, seconds)
    server.logged.length = 0
    await server.beforeMigration(database.owner)
    await rm(join(dir, backupName(clock.now)), { recursive: true, force: true })
    return server.logged
  }
  expect(await update(299)).toEqual([`a recent backup precedes the update ${join(dir, recent)}`])
  expect(await update(300)).toEqual([expect.stringMatching(/^backup made/)])
  // The clock was ahead when the backup was made.
  expect(await update(-1)).toEqual([expect.stringMatching(/^backup made/)])
  const manifest = await manifestOf(join(dir, recent))
  const writeManifest = (changed: Partial<Manifest>) =>
    writeFile(join(dir, recent, 'manifest.json'), JSON.stringify({ ...manifest, ...changed }))
  await writeManifest({ schema: '20260101000000' })
  expect(await update(1)).toEqual([expect.stringMatching(/^backup made/)])
  // A server made it automatically.
  const { installation = '' } = manifest.scheduled ?? {}
  await writeManifest({ scheduled: { installation } })
  expect(await update(3)).toEqual([expect.stringMatching(/^backup made/)])
  await writeManifest({ scheduled: { installation: crypto.randomUUID(), requested: true } })
  expect(await update(2)).toEqual([expect.stringMatching(/^backup made/)])
})

test('a list has all backups, the newest first, and a restore from their folder names the newest whole one', async () => {
  const dir = await createBackupDirectory()
  const clock = { now: new Date(2026, 5, 1, 12) }
  const server = createServer(dir, clock)
  await server.makeNow(database.owner)
  await rename(join(dir, backupName(clock.now)), join(dir, 'before'))
  clock.now = new Date(2026, 5, 2, 12)
  await server.makeNow(database.owner)
  const broken = join(dir, backupName(clock.now))
  await rm(join(broken, 'private.history.jsonl'))
  await mkdir(join(dir, 'notes'))
  const listed = await listBackups(dir)
  expect(listed.map(({ folder, isWhole }) => ({ folder, isWhole }))).toEqual([
    { folder: broken, isWhole: false },
    { folder: join(dir, 'before'), isWhole: true },
  ])
  await expect(checkBackup(dir)).rejects.toThrow(
    `The folder "${dir}" holds backups, and is none itself: name one of them with --from. The newest is "${join(dir, 'before')}".`,
  )
})

test("only automatic backups of this database are removed, and only if all files in them are a backup's", async () => {
  await database.owner`delete from public.retreat_applications`
  const dir = await createBackupDirectory()
  const clock = { now: new Date(2026, 5, 1, 12) }
  const server = createServer(dir, clock, 1)
  server.start(database)
  await server.waitForBackup(clock.now)
  const [backup = ''] = await backupsIn(dir)
  const manifest = await manifestOf(join(dir, backup))

  /** Copies the backup as if it was made at this time, and changes the copy. */
  const copyAs = async (at: Date, change: (folder: string) => Promise<unknown>) => {
    const folder = join(dir, backupName(at))
    await cp(join(dir, backup), folder, { recursive: true })
    const dated = { ...manifest, createdAt: at.toISOString() }
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(dated))
    await change(folder)
  }
  const old = (day: number) => new Date(2026, 0, day, 3)
  await copyAs(old(1), async (folder) => {
    const foreign = { ...manifest, createdAt: old(1).toISOString(), scheduled: { installation: 'another' } }
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(foreign))
  })
  await copyAs(old(2), (folder) => writeFile(join(folder, 'notes.txt'), 'the one before the move'))
  await copyAs(old(3), (folder) => rename(folder, join(dir, 'unplugged-of-the-retreat')))
  // A copy whose name has another time, a folder without a manifest, a file in place of a folder, and a backup by hand.
  await copyAs(old(4), (folder) => rename(folder, join(dir, backupName(old(5)))))
  await copyAs(old(6), (folder) => rm(join(folder, 'manifest.json')))
  await writeFile(join(dir, backupName(old(7))), 'no folder')
  await backUp(database.owner, join(dir, backupName(old(8))))
  const mustStay = (await backupsIn(dir)).filter((name) => name !== backup)
  expect(mustStay).toHaveLength(7)
  // This backup is removed with the old ones, although one of its files is missing.
  await copyAs(old(9), (folder) => rm(join(folder, 'private.door.jsonl')))

  clock.now = new Date(2026, 5, 2, 3)
  await server.waitForBackup(clock.now)
  await expect.poll(() => backupsIn(dir)).toEqual([...mustStay, backupName(clock.now)].toSorted())
  expect(await newestBackup(dir, { now: clock.now })).toMatchObject({
    folder: join(dir, backupName(clock.now)),
    createdAt: clock.now,
    applications: 0,
  })
})

test('the newest complete backup is never removed, even if a wrong clock dated an older one in the future', async () => {
  const dir = await createBackupDirectory()
  const clock = { now: new Date(2030, 5, 1, 12) }
  const ahead = createServer(dir, clock, 1)
  ahead.start(database)
  await ahead.waitForBackup(clock.now)
  await ahead.stop()
  clock.now = new Date(2026, 5, 1, 12)
  const server = createServer(dir, clock, 1)
  server.start(database)
  await server.waitForBackup(clock.now)
  await expect.poll(() => backupsIn(dir)).toEqual([backupName(clock.now)])
})

test('a server whose clock was ahead at its start, and is set back, makes one backup and not one at each check', async () => {
  const dir = await createBackupDirectory()
  // The clock goes on by a second each time it is read.
  const clock = {
    reads: 0,
    shown: new Date(2030, 5, 1, 12),
    get now() {
      this.reads += 1
      return (this.shown = new Date(this.shown.getTime() + 1_000))
    },
  }
  const server = createServer(dir, clock)
  server.start(database)
  await expect.poll(() => backupsIn(dir)).toHaveLength(1)
  clock.shown = new Date(2026, 5, 1, 12)
  await expect.poll(async () => (await backupsIn(dir)).length).toBeGreaterThan(1)
  const { reads } = clock
  await expect.poll(() => clock.reads).toBeGreaterThan(reads + 100)
  expect(await backupsIn(dir)).toHaveLength(2)
})

test('the remains of a killed backup of this database and an old empty folder are removed, and nothing else', async () => {
  const dir = await createBackupDirectory()
  const clock = { now: new Date() }
  const [row] = await database.owner<[{ id: string }]>`select id from private.installation`
  const unfinishedFolder = (name: string) => join(dir, `.${backupName(new Date(2026, 0, 1))}.${name}`)
  const createRemains = async (name: string, files: Record<string, object>) => {
    await mkdir(unfinishedFolder(name))
    for (const [file, content] of Object.entries(files)) {
      await writeFile(join(unfinishedFolder(name), file), JSON.stringify(content))
    }
  }
  await createRemains('aaaaaa', { 'unfinished.json': { installation: row.id }, 'private.door.jsonl': {} })
  await createRemains('bbbbbb', { 'manifest.json': { scheduled: { installation: row.id } } })
  // The next four stay: of another database, with a file that is no backup's, of an unknown database, and empty but young.
  await createRemains('cccccc', { 'unfinished.json': { installation: 'another' } })
  await createRemains('dddddd', { 'unfinished.json': { installation: row.id }, 'holiday.jpg': {} })
  await createRemains('eeeeee', { 'private.door.jsonl': {} })
  await createRemains('ffffff', {})
  await createRemains('gggggg', {})
  await utimes(unfinishedFolder('gggggg'), 0, 0)
  const server = createServer(dir, clock)
  server.start(database)
  await server.waitForBackup(clock.now)
  const remaining = (await backupsIn(dir)).filter((name) => name.startsWith('.'))
  expect(remaining.map((name) => name.slice(-6))).toEqual(['cccccc', 'dddddd', 'eeeeee', 'ffffff'])
})

test('a missing folder is reported once, and a backup is made when the folder is back', async () => {
  const dir = await createBackupDirectory()
  await rm(dir, { recursive: true })
  const clock = { now: new Date(2026, 5, 1, 12) }
  const server = createServer(dir, clock)
  server.start(database)
  await expect.poll(() => server.state().failingSince).toEqual(clock.now)
  await expect(newestBackup(dir)).rejects.toThrow(/^BACKUP_DIR is ".*", which is not there: /)
  await mkdir(dir)
  await server.waitForBackup(clock.now)
  await expect.poll(() => server.state().failingSince).toBeUndefined()
  expect(server.logged.filter((line) => line === 'the backup failed')).toHaveLength(1)
})

// break: backup-blocks-applicants
test('applications are stored while a server holds the lock of backups', async () => {
  await database.owner.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${advisoryLocks.backup})`
    expect(await insertApplications(database.as(visitor), sentRowsOf(anApplication()))).toBe(1)
  })
})
