import { OperatorError } from '../../../settings/operator-error.ts'
import { defaultToNewestEdition } from '../edition.ts'
import { inBatches, type Sql } from '../sql.ts'

/** Rows that are copied at a time. */
const batchSize = 200

/**
 * Copies all rows of a database into another one of the same schema, and verifies the copy.
 *
 * @param from A connection in a transaction, which may be read-only. Others cannot write until it ends.
 * @param to A connection of the other database's superuser. The rows of that database are removed first.
 * @returns The number of copied rows.
 * @throws {OperatorError} if there are tables, roles or databases that this program did not create.
 */
export async function copyDatabase(from: Sql, to: Sql): Promise<number> {
  const names = await tablesOf(from)
  await refuseUnknown(from, to, names)
  if (names.length === 0) return 0
  await from.unsafe(`lock table ${names.join(', ')} in exclusive mode`)
  await setOutput(from)
  await to.begin(async (transaction) => {
    await setOutput(transaction)
    // Turns off triggers and foreign keys, since the rows already have the values that triggers set.
    await transaction`set local session_replication_role = replica`
    await transaction.unsafe(`truncate ${names.join(', ')}`)
    for (const name of names) await copyTable(from, transaction, name)
    await copySequences(from, transaction)
    await defaultToNewestEdition(transaction)
  })
  await to`analyze`
  return to.begin(async (transaction) => {
    await setOutput(transaction)
    let rows = 0
    for (const name of names) {
      const [original, copy] = [await digestOf(from, name), await digestOf(transaction, name)]
      if (original.rows !== copy.rows || original.sum !== copy.sum)
        throw new Error(`${name} is not the same after it was copied`)
      rows += copy.rows
    }
    return rows
  })
}

/** Makes both databases write the same value as the same text. Removes the time limit of statements. */
async function setOutput(transaction: Sql) {
  await transaction`select
    set_config('timezone', 'UTC', true), set_config('search_path', '', true), set_config('statement_timeout', '0', true)`
}

/** The SQL condition for all schemas except those of PostgreSQL itself. */
const ownSchemas = `nspname not like 'pg\\_%' and nspname <> 'information_schema'`

async function tablesOf(sql: Sql) {
  const rows = await sql.unsafe<{ name: string }[]>(`
    select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p') and ${ownSchemas} order by 1`)
  return rows.map(({ name }) => name)
}

async function refuseUnknown(from: Sql, to: Sql, tables: string[]) {
  const others = async (sql: Sql) => {
    const rows = await sql<{ name: string }[]>`
      select 'the role ' || rolname as name from pg_roles where rolname not like 'pg\\_%'
      union all select 'the database ' || datname from pg_database`
    return rows.map(({ name }) => name)
  }
  const known = [...(await tablesOf(to)), ...(await others(to))]
  const unknownNames = [...tables, ...(await others(from))].filter((name) => !known.includes(name))
  if (unknownNames.length === 0) return
  throw new OperatorError(
    `The database contains objects that this program did not create and cannot copy (${unknownNames.join(', ')}): remove them or move them elsewhere first, with the version of this program that was used until now.`,
  )
}

/** Copies with a cursor and INSERT: the driver hangs on a COPY that fails at its end. */
async function copyTable(from: Sql, to: Sql, name: string) {
  const list = await columnsOf(from, name)
  const rows = `select to_json(rows)::text as row from ${name} as rows`
  for await (const batch of inBatches<{ row: string }>(from, rows, batchSize)) {
    await to.unsafe(
      `insert into ${name} (${list}) overriding system value
       select ${list} from json_populate_recordset(null::${name}, $1::json)`,
      [`[${batch.map(({ row }) => row).join()}]`],
    )
  }
}

/** The columns in alphabetical order, since the old database may have them in another order. */
async function columnsOf(sql: Sql, name: string) {
  const columns = await sql<{ name: string }[]>`
    select quote_ident(attname) as name from pg_attribute
    where attrelid = ${name}::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by 1`
  return columns.map((column) => column.name).join(', ')
}

async function copySequences(from: Sql, to: Sql) {
  const sequences = await from<{ name: string; last: string }[]>`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
    from pg_sequences where last_value is not null`
  for (const { name, last } of sequences) await to`select setval(${name}, ${last}::bigint)`
}

/** The number of a table's rows, and a checksum of them, regardless of their order. */
async function digestOf(transaction: Sql, name: string) {
  const [row] = await transaction.unsafe<{ rows: number; sum: string }[]>(`
    select count(*)::integer as rows,
      coalesce(sum(('x' || substr(md5(rows::text), 1, 16))::bit(64)::bigint), 0)::text as sum
    from (select ${await columnsOf(transaction, name)} from ${name}) as rows`)
  return row ?? { rows: 0, sum: '' }
}
