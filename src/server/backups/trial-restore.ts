import { createHash } from 'node:crypto'
import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { readLines, type BackupCounts } from './backup.ts'
import { fileOf } from './manifest.ts'
import { restore } from './restore.ts'
import { linesOf, type Backup } from './read-backup.ts'
import { tableOf } from './tables.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The result of restoring a backup for a check. */
export interface CheckResult extends BackupCounts {
  /** The number of restored tables. */
  tables: number
}

/** Rows that are compared at a time. */
const batchSize = 100

/**
 * Restores a backup whose files match its manifest, and compares the restored tables with the files.
 *
 * @param sql Connections to an empty database that nobody uses and that is dropped afterwards.
 * @throws {OperatorError} if the backup cannot be restored, or the restored rows differ.
 */
export async function checkRestore(sql: Sql, backup: Backup): Promise<CheckResult> {
  const { folder, manifest } = backup
  let tables = 0
  const afterRows = async (transaction: Sql, restored: readonly string[]) => {
    tables = restored.length
    await transaction`set local time zone 'UTC'`
    for (const name of restored) {
      const [written, inTable] = await summarise(transaction, name, join(folder, fileOf(name)))
      const rows = manifest.files[fileOf(name)]?.rows
      if (inTable.rows !== rows) {
        throw new OperatorError(
          `The backup in "${folder}" is not restored completely: ${name} has ${inTable.rows} rows then, and the manifest says ${rows}.`,
        )
      }
      if (inTable.sum === written.sum) continue
      throw new OperatorError(`The backup in "${folder}" cannot be restored exactly: rows of ${name} differ.`)
    }
  }
  const counts = await restore(sql, backup, { afterRows })
  return { ...counts, tables }
}

/** Returns the digests of a backup's file and of the restored table, in this order. Only the file's columns are read. */
async function summarise(transaction: Sql, name: string, file: string) {
  const { key } = tableOf(name)
  const keys: unknown[] = []
  const written = new Summary()
  let columns: string | undefined
  for await (const line of linesOf(file)) {
    written.add(line)
    if (columns !== undefined && key === undefined) continue
    const row = JSON.parse(line) as Record<string, unknown>
    columns ??= Object.keys(row)
      .map((column) => `"${column.replaceAll('"', '""')}"`)
      .join(', ')
    if (key !== undefined) keys.push(key.split(', ').map((column) => row[column]))
  }
  const restored = new Summary()
  const query = `select ${columns ?? '*'} from ${name}`
  // A table with a key may have rows even in a new database. Those that the backup lacks are left out.
  const [where, parameters] =
    key === undefined
      ? ['', []]
      : [
          `where jsonb_build_array(${key}) in (select value from jsonb_array_elements($1::text::jsonb))`,
          [JSON.stringify(keys)],
        ]
  for await (const lines of readLines(transaction, `${query} ${where}`, batchSize, parameters)) {
    for (const line of lines) restored.add(line)
  }
  return [written, restored] as const
}

/** The number of rows, and a digest that does not depend on their order. */
class Summary {
  rows = 0
  sum = 0n

  add(line: string) {
    this.rows += 1
    this.sum += BigInt(`0x${createHash('sha256').update(line).digest('hex')}`)
  }
}
