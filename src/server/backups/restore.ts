import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { checkRegular, fileOf, readManifest, backupFailure, type Manifest } from './manifest.ts'
import type { BackupCounts } from './backup.ts'
import { listBackups } from './folder.ts'
import {
  moveOlderRows,
  createOlderTables,
  hideFacts,
  tableFor,
  writeDomainsInAscii,
} from './older-versions.ts'
import { accounts, applications, backupTables, history, tableOf } from './tables.ts'
import { triggers } from './triggers.ts'
import { defaultToNewestEdition } from './newest-edition-default.ts'
import { newestVersion } from '../database/schema/migration-files.ts'
import { ownerOfAuth } from '../database/schema/owner-of-auth.ts'
import { maxBatchLength, type Sql } from '../database/connection/sql.ts'

/** The tables that each database of today has and nobody else owns. */
const ownTables = backupTables.filter((name) => tableOf(name).part === undefined)

/** Rows that are restored at a time. Long rows are fewer. */
const batchSize = 500

/** A folder that passed `checkBackup`. */
export interface Backup {
  folder: string
  /** The tables in the folder. */
  tables: string[]
  manifest: Manifest
}

/** The options of a restore. */
export interface RestoreOptions {
  /** Digests of erased applications and private answers, which are erased again. */
  erased?: ReadonlySet<string> | undefined
  /** Called when the rows are in the tables, before any row is changed. */
  afterRows?: (transaction: Sql, tables: readonly string[]) => Promise<void>
}

/**
 * Restores a backup into an empty database, in one transaction. Finished deliveries stay finished, and applications and RSVPs
 * that wait for a webhook still wait. Pending letters, decisions and receipts may have been sent since the backup: they are
 * cancelled, and their letters become drafts. The door is open or closed as in the backup. Accounts are restored if our
 * own server manages them.
 *
 * @param sql Connections of the schema's owner, with an up-to-date schema.
 * @returns The numbers of restored rows, and of applications and private answers that were erased again.
 * @throws {OperatorError} if the database is not empty or refuses, or the folder is not a complete backup.
 */
export async function restore(
  sql: Sql,
  { folder, tables }: Backup,
  { erased, afterRows }: RestoreOptions = {},
): Promise<BackupCounts & { erased: number; erasedAnswers: number }> {
  try {
    const hasAccounts = tables.includes(accounts) && (await ownerOfAuth(sql)) === 'us'
    return await sql.begin(async (transaction) => {
      await transaction.unsafe(`lock table ${ownTables.join(', ')} in exclusive mode`)
      await refuseRows(transaction, applications, 'applications')
      if (tables.includes(history)) await refuseRows(transaction, history, 'a history of the desk')
      if (hasAccounts) await refuseRows(transaction, accounts, 'accounts of organisers')
      const disabledTriggers = triggers.filter(({ firesOnRestore }) => !firesOnRestore)
      for (const { table, name } of disabledTriggers)
        await transaction.unsafe(`alter table ${table} disable trigger ${name}`)
      await createOlderTables(transaction)
      const restored = tables.filter((name) => hasAccounts || tableOf(name).part !== 'accounts')
      for (const name of restored) {
        await insertLines(transaction, name, join(folder, fileOf(name)))
      }
      await afterRows?.(transaction, restored)
      await moveOlderRows(transaction)
      if (!tables.includes('private.page')) await hideFacts(transaction)
      if (hasAccounts) await writeDomainsInAscii(transaction)
      await defaultToNewestEdition(transaction)
      // New rows of the history get ids after the restored ones.
      await transaction.unsafe(
        `select setval(pg_get_serial_sequence('${history}', 'id'), max(id)) from ${history}`,
      )
      await transaction`select private.settle_restored()`
      const erasedAnswers = await eraseAnswersAgain(transaction, erased)
      for (const { table, name } of disabledTriggers)
        await transaction.unsafe(`alter table ${table} enable trigger ${name}`)
      return {
        erased: await eraseAgain(transaction, erased),
        erasedAnswers,
        applications: await countRows(transaction, applications),
        accounts: hasAccounts ? await countRows(transaction, accounts) : 0,
      }
    })
  } catch (error) {
    throw backupFailure(error, folder)
  }
}

/**
 * Checks that a folder is a backup that this version can restore, before a database is created for it.
 *
 * @throws {OperatorError} if a file does not match the manifest, or a newer version made the backup.
 */
export async function checkBackup(folder: string): Promise<Backup> {
  await refuseFolderOfBackups(folder)
  try {
    const manifest = await readManifest(folder)
    if (manifest.schema > newestVersion) {
      throw new OperatorError(
        `The backup in "${folder}" was made by a newer version of this program: restore it with that version or a later one, or use a backup from before the update (docs/operate.md#go-back).`,
      )
    }
    // Older backups lack tables of today. Backups of hosted projects have no accounts.
    const tables = backupTables.filter(
      (name) => name === applications || manifest.files[fileOf(name)] !== undefined,
    )
    for (const name of tables.map(fileOf)) {
      const hash = createHash('sha256')
      await checkRegular(join(folder, name))
      for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk as Buffer)
      if (hash.digest('hex') === manifest.files[name]?.sha256) continue
      throw new OperatorError(
        `The folder "${folder}" is not a whole backup: ${name} was changed since the backup was written.`,
      )
    }
    return { folder, tables, manifest }
  } catch (error) {
    throw backupFailure(error, folder)
  }
}

/** Names the newest backup in a folder such as `BACKUP_DIR`, which is no backup itself. */
async function refuseFolderOfBackups(folder: string) {
  const newest = (await listBackups(folder).catch(() => [])).find(({ isWhole }) => isWhole)
  if (newest === undefined) return
  throw new OperatorError(
    `The folder "${folder}" holds backups, and is none itself: name one of them with --from. The newest is "${newest.folder}".`,
  )
}

/** Erases applications again. Returns their number. */
async function eraseAgain(transaction: Sql, erased: ReadonlySet<string> = new Set()) {
  if (erased.size === 0) return 0
  const [row] = await transaction.unsafe<[{ count: number }]>(
    `select private.erase_applications(array(
       select id from ${applications} where encode(sha256(convert_to(id::text, 'UTF8')), 'hex') = any($1::text[])
     ), 'operator') as count`,
    [[...erased]],
  )
  return row.count
}

/**
 * Erases private answers again, and those whose erasure is due by the days in the backup. An answer that was given again after
 * its erasure stays: the backup has its digest too. Returns the number of answers.
 */
async function eraseAnswersAgain(transaction: Sql, erased: ReadonlySet<string> = new Set()) {
  const [again] = await transaction<[{ count: number }]>`
    with gone as (
      delete from private.question_answers as given
        where private.answer_digest(given) = any(${[...erased]}::text[])
          and private.answer_digest(given) not in (select digest from private.erasures)
        returning private.answer_digest(given) as digest
    ), remembered as (
      insert into private.erasures (digest) select digest from gone
    )
    select count(*)::int as count from gone`
  if (again.count > 0) {
    await transaction`
      insert into private.history (author, kind, detail)
      values ('operator', 'questions', jsonb_build_object('erased', ${again.count}::integer))`
  }
  const [due] = await transaction<[{ erased: number }]>`
    select private.erase_due_answers('operator') as erased`
  return again.count + due.erased
}

async function insertLines(transaction: Sql, table: string, file: string) {
  const insert = async (lines: string[]) => {
    // Only the columns of the backup are named: it lacks columns that later migrations added.
    const row = JSON.parse(lines[0] ?? '') as object
    const name = tableFor(table, row)
    const names = Object.keys(row).map((column) => `"${column.replaceAll('"', '""')}"`)
    const columns = names.join(', ')
    const { key } = tableOf(name)
    const newValues = names.map((column) => `excluded.${column}`).join(', ')
    const conflict =
      key === undefined ? '' : `on conflict (${key}) do update set (${columns}) = row(${newValues})`
    await transaction.unsafe(
      `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, $1::json) ${conflict}`,
      [`[${lines.join(',')}]`],
    )
  }
  let batch: string[] = []
  let length = 0
  for await (const line of linesOf(file)) {
    batch.push(line)
    length += line.length
    if (batch.length < batchSize && length < maxBatchLength) continue
    await insert(batch)
    batch = []
    length = 0
  }
  if (batch.length > 0) await insert(batch)
}

/**
 * Reads the lines of a file. Since Node.js 24, `node:readline` also splits at U+2028, which JSON does not escape and
 * applicants may write.
 */
export async function* linesOf(file: string) {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

async function countRows(transaction: Sql, name: string) {
  const [row] = await transaction.unsafe<{ count: number }[]>(`select count(*)::int as count from ${name}`)
  return row?.count ?? 0
}

async function refuseRows(transaction: Sql, name: string, what: string) {
  if ((await countRows(transaction, name)) === 0) return
  throw new OperatorError(`The database holds ${what} already: a backup is restored into an empty one.`)
}
