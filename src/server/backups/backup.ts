import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { OperatorError } from '../../settings/operator-error.ts'
import { fileOf, manifestName, backupFailure, type Manifest } from './manifest.ts'
import { accounts, applications, backupTables, tableOf } from './tables.ts'
import { syncDirectory } from '../database/postgres/disk.ts'
import { runDirectly, type FileWork } from './hanging-folder-queue.ts'
import { ownerOfAuth } from '../database/schema/owner-of-auth.ts'
import { schemaVersion } from '../database/schema/schema-state.ts'
import { inBatches, type Sql } from '../database/connection/sql.ts'

/** The numbers of rows in a backup, or of rows that were restored. */
export interface BackupCounts {
  applications: number
  /** 0 if the backup has no accounts. */
  accounts: number
}

/** The options for writing a backup. */
export interface BackupOptions {
  /** Set if a server makes the backup automatically. */
  scheduled?: Manifest['scheduled']
  /** The share of the time in which the backup may work, so that other work can go on; default 1. */
  share?: number
  /** Runs each piece of work on the backup's files; by default directly. */
  runFileWork?: FileWork
  /** Aborts the backup. */
  signal?: AbortSignal
  now?: () => Date
}

/** The mode of a backup's transaction, which sees a snapshot of one moment. */
export const snapshotMode = 'isolation level repeatable read read only'

/** Rows that are read at a time. More are not faster, and an application's JSON may have 1.5 MB. */
const batchSize = 100
/** Bytes after which a file is flushed to disk: a single flush at the end would block other programs on the disk. */
const maxUnflushedBytes = 8 * 1024 * 1024
/** The name of the file in an unfinished backup that says to which database the backup belongs. */
export const unfinishedName = 'unfinished.json'

/**
 * Writes a snapshot of the tables into a new folder while inserts go on. Each file has one JSON object per line.
 *
 * @param sql Connections of the schema's owner.
 * @param folder The new folder, which appears once it is complete and flushed to disk.
 * @returns The numbers of applications and accounts in the backup.
 * @throws {OperatorError} if the folder exists already or cannot be written, or the database refuses to read.
 */
export async function backUp(sql: Sql, folder: string): Promise<BackupCounts> {
  await mkdir(dirname(folder), { recursive: true }).catch((error: unknown) => {
    throw backupFailure(error, folder)
  })
  return sql.begin(snapshotMode, (transaction) => writeBackup(transaction, folder))
}

/**
 * Writes a backup in a transaction of `snapshotMode`. The parent folder has to exist.
 *
 * @throws {OperatorError} if the folder exists already or cannot be written, or the database refuses to read; the signal's
 *   reason if the backup was aborted.
 */
export async function writeBackup(
  transaction: Sql,
  folder: string,
  options: BackupOptions = {},
): Promise<BackupCounts> {
  const { scheduled, runFileWork = runDirectly, now = () => new Date() } = options
  if (await runFileWork(() => stat(folder).catch(() => undefined))) {
    throw new OperatorError(`The folder "${folder}" already exists: name a new folder for each backup.`)
  }
  let temporaryFolder: string | undefined
  try {
    const createdAt = now().toISOString()
    // A random name: nobody can have created the folder in advance to read the applicants' answers.
    const temporary = await runFileWork(() => mkdtemp(join(dirname(folder), `.${basename(folder)}.`)))
    temporaryFolder = temporary
    const unfinished = join(temporary, unfinishedName)
    if (scheduled) await runFileWork(() => writeDurably(unfinished, scheduled))
    const written = await writeTables(transaction, temporary, options)
    const manifest: Manifest = {
      format: 1,
      createdAt,
      timeZone: 'UTC',
      ...(scheduled && { scheduled }),
      ...written,
    }
    await runFileWork(() => writeDurably(join(temporary, manifestName), manifest))
    if (scheduled) await runFileWork(() => rm(unfinished))
    await runFileWork(() => syncDirectory(temporary))
    await runFileWork(() => rename(temporary, folder))
    await runFileWork(() => syncDirectory(dirname(folder)))
    const rowsOf = (name: string) => written.files[fileOf(name)]?.rows ?? 0
    return { applications: rowsOf(applications), accounts: rowsOf(accounts) }
  } catch (error) {
    // If removing the folder fails too, the first error says more.
    const leftover = temporaryFolder
    if (leftover !== undefined)
      await runFileWork(() => rm(leftover, { recursive: true, force: true })).catch(() => {})
    throw backupFailure(error, folder)
  }
}

async function writeTables(transaction: Sql, folder: string, options: BackupOptions) {
  await transaction`set local time zone 'UTC'`
  const files: Manifest['files'] = {}
  const isOurs = (await ownerOfAuth(transaction)) === 'us'
  for (const name of backupTables.filter((each) => isOurs || tableOf(each).part !== 'accounts')) {
    const [row] = await transaction<
      { is_present: boolean }[]
    >`select to_regclass(${name}) is not null as is_present`
    if (!row?.is_present) continue
    files[fileOf(name)] = await writeTable(transaction, name, folder, options)
  }
  return { schema: await schemaVersion(transaction), files }
}

async function writeTable(
  transaction: Sql,
  name: string,
  folder: string,
  { share = 1, runFileWork = runDirectly, signal }: BackupOptions,
) {
  const file = await runFileWork(() => open(join(folder, fileOf(name)), 'wx', 0o600))
  const hash = createHash('sha256')
  let rows = 0
  let bytes = 0
  let unflushed = 0
  try {
    let began = performance.now()
    const { columns = '*', rows: condition = true } = tableOf(name)
    const query = `select ${columns} from ${name} where ${condition}`
    for await (const lines of readLines(transaction, query, batchSize)) {
      signal?.throwIfAborted()
      const text = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      hash.update(text)
      rows += lines.length
      bytes += text.length
      unflushed += text.length
      await runFileWork(() => file.writeFile(text))
      if (unflushed > maxUnflushedBytes) {
        await runFileWork(() => file.datasync())
        unflushed = 0
      }
      if (share < 1) await wait((performance.now() - began) * (1 / share - 1), undefined, { signal })
      began = performance.now()
    }
    await runFileWork(() => file.sync())
  } finally {
    // Closing begins outside the queue of file work, which may refuse work. The queue also waits for it: while closing hangs, no
    // other work takes a thread.
    const closing = file.close()
    await Promise.all([closing, runFileWork(() => closing)])
  }
  return { rows, bytes, sha256: hash.digest('hex') }
}

/**
 * Reads rows in the format of a backup, in batches.
 *
 * @param query Selects the rows, with `parameters`.
 * @param batch The number of rows in a batch.
 */
export async function* readLines(
  transaction: Sql,
  query: string,
  batch: number,
  parameters: string[] = [],
): AsyncGenerator<string[]> {
  const text = `select row_to_json(rows)::text as line from (${query}) as rows`
  for await (const rows of inBatches<{ line: string }>(transaction, text, batch, parameters)) {
    yield rows.map(({ line }) => line)
  }
}

async function writeDurably(path: string, content: object) {
  await writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true })
}
