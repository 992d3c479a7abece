import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import postgres, { type Sql, type TransactionSql } from 'postgres'

import { table } from '../../application/application.ts'
import { OperatorError } from '../../settings/operator-error.ts'

/** What is kept, in the order in which it can be put back. */
const applications = `public.${table}`
const tables = [applications, 'private.webhook_outbox']

const fileOf = (folder: string, name: string) => join(folder, `${name}.jsonl`)

/** Rows that are put back in one statement: enough to be quick, few enough to be small. */
const batchSize = 500

/**
 * Writes both tables into a new folder, as they stood at one moment, while others go on inserting: a JSON
 * object a line.
 *
 * @param sql Connections of the schema's owner.
 * @param folder It appears when it is complete and on the disk.
 * @returns How many applications it holds.
 * @throws {OperatorError} where it is there already or cannot be written.
 */
export async function backUp(sql: Sql, folder: string): Promise<number> {
  if (await stat(folder).catch(() => undefined)) {
    throw new OperatorError(`The folder "${folder}" is there already: name a new one for each backup.`)
  }
  const partial = `${folder}.partial`
  try {
    await rm(partial, { recursive: true, force: true })
    // Applicants' answers are nobody else's business.
    await mkdir(partial, { recursive: true, mode: 0o700 })
    const count = await sql.begin('isolation level repeatable read read only', async (transaction) => {
      for (const name of tables) {
        // CSV with signs that JSON never holds, so that each line is the JSON itself.
        const rows = await transaction
          .unsafe(`copy (select row_to_json(rows) from ${name} as rows) to stdout
            (format csv, delimiter e'\\x01', quote e'\\x02')`)
          .readable()
        await pipeline(rows, createWriteStream(fileOf(partial, name), { flush: true, mode: 0o600 }))
        // The driver leaves its socket paused where the last rows filled the stream; this wakes it.
        // oxlint-disable-next-line no-underscore-dangle
        rows._read(0)
      }
      return countApplications(transaction)
    })
    await rename(partial, folder)
    return count
  } catch (error) {
    // Where it cannot be removed either, the first error says more.
    await rm(partial, { recursive: true, force: true }).catch(() => {})
    throw unusable(error, folder)
  }
}

/**
 * Puts a backup into an empty database, all of it or nothing. Deliveries stand as they stood: what was
 * delivered is not delivered again.
 *
 * @param sql Connections of the schema's owner, the schema up to date.
 * @param folder What `backUp` wrote.
 * @returns How many applications it held.
 * @throws {OperatorError} where the database is not empty or the folder is not a whole backup.
 */
export async function restore(sql: Sql, folder: string): Promise<number> {
  try {
    return await sql.begin(async (transaction) => {
      await transaction.unsafe(`lock table ${applications} in share row exclusive mode`)
      if ((await countApplications(transaction)) > 0) {
        throw new OperatorError(
          'The database holds applications already: a backup is restored into an empty one.',
        )
      }
      // The backup brings the deliveries itself; new ones would be made twice.
      await transaction.unsafe(`alter table ${applications} disable trigger user`)
      // By INSERT: the driver never returns from a COPY that the database refuses at its end.
      for (const name of tables) await insertLines(transaction, name, fileOf(folder, name))
      await transaction.unsafe(`alter table ${applications} enable trigger user`)
      return countApplications(transaction)
    })
  } catch (error) {
    throw unusable(error, folder)
  }
}

async function insertLines(transaction: TransactionSql, name: string, file: string) {
  const insert = async (lines: string[]) => {
    // Later migrations may add columns that a backup does not have.
    const columns = Object.keys(JSON.parse(lines[0] ?? '') as object)
      .map((column) => `"${column.replaceAll('"', '""')}"`)
      .join(', ')
    await transaction.unsafe(
      `insert into ${name} (${columns}) select ${columns} from json_populate_recordset(null::${name}, $1::text::json)`,
      [`[${lines.join(',')}]`],
    )
  }
  let batch: string[] = []
  for await (const line of linesOf(file)) {
    batch.push(line)
    if (batch.length < batchSize) continue
    await insert(batch)
    batch = []
  }
  if (batch.length > 0) await insert(batch)
}

/** Not by `node:readline`, which from Node.js 24 ends a line at U+2028 too: JSON leaves it, and applicants may write it. */
async function* linesOf(file: string) {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

async function countApplications(transaction: TransactionSql) {
  const [row] = await transaction.unsafe<{ count: number }[]>(
    `select count(*)::int as count from ${applications}`,
  )
  return row?.count ?? 0
}

function unusable(error: unknown, folder: string) {
  const ofFile = error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  if (ofFile) {
    return new OperatorError(`The folder "${folder}" cannot be used (${error.message}).`, { cause: error })
  }
  // Class 22 and 23: values that do not fit; 42703: columns that are not there.
  const isRefused = error instanceof postgres.PostgresError
  if (error instanceof SyntaxError || (isRefused && /^(22|23|42703)/.test(error.code))) {
    return new OperatorError(`The folder "${folder}" is not a whole backup (${error.message}).`, {
      cause: error,
    })
  }
  if (!isRefused) return error
  return new OperatorError(`The database refused (${error.message}): nothing was written or restored.`, {
    cause: error,
  })
}
