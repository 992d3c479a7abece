import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import type { Sql } from 'postgres'

import { table } from '../../application/application.ts'
import { OperatorError } from '../operator-error.ts'

/** What is kept, in the order in which it can be put back. */
const tables = [`public.${table}`, 'private.webhook_outbox']

const fileOf = (folder: string, name: string) => join(folder, `${name}.csv`)

/**
 * Writes both tables into a new folder, as they stood at one moment, while others go on inserting.
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
        const rows = await transaction.unsafe(`copy ${name} to stdout (format csv, header)`).readable()
        await pipeline(rows, createWriteStream(fileOf(partial, name), { flush: true, mode: 0o600 }))
      }
      const [row] = await transaction<{ count: number }[]>`
        select count(*)::int as count from public.retreat_applications`
      return row?.count ?? 0
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
 * @throws {OperatorError} where the database is not empty or the folder is not a backup.
 */
export async function restore(sql: Sql, folder: string): Promise<number> {
  try {
    return await sql.begin(async (transaction) => {
      const [target = ''] = tables
      await transaction.unsafe(`lock table ${target} in share row exclusive mode`)
      const [stored] = await transaction.unsafe(`select 1 from ${target} limit 1`)
      if (stored) {
        throw new OperatorError(
          'The database holds applications already: a backup is restored into an empty one.',
        )
      }
      // The backup brings the deliveries itself; new ones would be made twice.
      await transaction.unsafe(`alter table ${target} disable trigger enqueue_webhook`)
      for (const name of tables) {
        const file = fileOf(folder, name)
        const columns = await firstLine(file)
        if (!/^[a-z_]+(,[a-z_]+)*$/.test(columns)) {
          throw new OperatorError(`The file "${file}" is not part of a backup.`)
        }
        const rows = await transaction
          .unsafe(`copy ${name} (${columns}) from stdin (format csv, header)`)
          .writable()
        await pipeline(createReadStream(file), rows)
      }
      await transaction.unsafe(`alter table ${target} enable trigger enqueue_webhook`)
      const [row] = await transaction<{ count: number }[]>`
        select count(*)::int as count from public.retreat_applications`
      return row?.count ?? 0
    })
  } catch (error) {
    throw unusable(error, folder)
  }
}

/** The first line of a file; later migrations may add columns that a backup does not have. */
async function firstLine(file: string) {
  const input = createReadStream(file)
  await once(input, 'open')
  for await (const line of createInterface({ input })) {
    input.destroy()
    return line
  }
  return ''
}

function unusable(error: unknown, folder: string) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!(error instanceof Error) || !/^E[A-Z]+$/.test(code)) return error
  return new OperatorError(`The folder "${folder}" cannot be used (${error.message}).`, { cause: error })
}
