import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { backupFailure, fileOf } from './manifest.ts'
import type { BackupCounts } from './backup.ts'
import {
  moveOlderRows,
  createOlderTables,
  hideFacts,
  tableFor,
  writeDomainsInAscii,
} from './older-versions.ts'
import { accounts, applications, backupTables, history, tableOf } from './tables.ts'
import { linesOf, type Backup } from './read-backup.ts'
import { triggers } from './triggers.ts'
import { defaultToNewestEdition } from './newest-edition-default.ts'
import { ownerOfAuth } from '../database/schema/owner-of-auth.ts'
import { maxBatchLength, type Sql } from '../database/connection/sql.ts'

/** The tables that each database of today has and nobody else owns. */
const ownTables = backupTables.filter((name) => tableOf(name).part === undefined)

/** Rows that are restored at a time. Long rows are fewer. */
const batchSize = 500

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

async function countRows(transaction: Sql, name: string) {
  const [row] = await transaction.unsafe<{ count: number }[]>(`select count(*)::int as count from ${name}`)
  return row?.count ?? 0
}

async function refuseRows(transaction: Sql, name: string, what: string) {
  if ((await countRows(transaction, name)) === 0) return
  throw new OperatorError(`The database holds ${what} already: a backup is restored into an empty one.`)
}
