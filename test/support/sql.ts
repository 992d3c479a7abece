import { parseAddress } from '../../src/server/database/connection/address.ts'
import { createPool, type Pool } from '../../src/server/database/connection/pool.ts'
import { embedded } from '../../src/server/database/postgres/start-stop.ts'
import {
  identifier,
  sqlOf,
  Template,
  type Parameter,
  type Sql,
} from '../../src/server/database/connection/sql.ts'
import { atTestEnd } from './cleanup.ts'

/** Connections to the embedded database as its superuser. */
export function connectToEmbedded(dataDir: string, size = 1): Pool {
  return endAtTestEnd(
    createPool({ ...embedded(dataDir), parameters: { application_name: 'a test' } }, { size }),
  )
}

/** Connections to the database at an address. */
export function connectTo(url: string, size = 1): Pool {
  return endAtTestEnd(createPool(parseAddress(url).address, { size }))
}

function endAtTestEnd(pool: Pool): Pool {
  atTestEnd(() => pool.end())
  return pool
}

/** The columns and values of an insert. All rows have the columns of the first. */
export function valuesOf<Row extends object>(rowOrRows: Row | readonly Row[]): Template {
  const rows = (Array.isArray(rowOrRows) ? rowOrRows : [rowOrRows]) as Record<string, Parameter>[]
  const columns = Object.keys(rows[0] ?? {})
  const list = (parts: readonly (Parameter | Template)[]) =>
    new Template(['(', ...parts.slice(1).map(() => ', '), ')'], parts)
  const values = rows.map((row) => list(columns.map((column) => row[column] ?? null)))
  return new Template(
    ['', ' values ', ...values.slice(1).map(() => ', '), ''],
    [list(columns.map(identifier)), ...values],
  )
}

/** A copy of `sql` that runs each statement, and each transaction as a whole, inside `around`. */
export function wrapStatements(
  sql: Sql,
  around: <Result>(
    run: () => Promise<Result>,
    text: string,
    parameters: readonly Parameter[],
  ) => Promise<Result>,
): Sql {
  return sqlOf({
    run: (text, parameters, options) => around(() => sql.unsafe(text, parameters, options), text, parameters),
    begin: (mode, work) => around(() => sql.begin(mode, work), `begin ${mode}`, []),
  })
}

/** A copy of `sql` that records each statement in a list, including those in transactions. */
export function recordStatements(sql: Sql, statements: string[]): Sql {
  return sqlOf({
    run: (text, parameters, options) => {
      statements.push(text)
      return sql.unsafe(text, parameters, options)
    },
    begin: (mode, work) => sql.begin(mode, (transaction) => work(recordStatements(transaction, statements))),
  })
}

/** Stores rows without running triggers, which would create drafts of letters, for example. */
export function withoutTriggers(sql: Sql, insert: (transaction: Sql) => Promise<unknown>): Promise<void> {
  return sql.begin(async (transaction) => {
    await transaction`set local session_replication_role = replica`
    await insert(transaction)
  })
}

/** Counts the rows of some tables that work in a transaction reads, by scanning a table or by an index. */
export async function countRowsRead(
  transaction: Sql,
  tables: readonly string[],
  work: () => Promise<unknown>,
): Promise<number> {
  const count = async () => {
    const [row] = await transaction<[{ count: number }]>`
      select sum(seq_tup_read + idx_tup_fetch)::integer as count
      from pg_stat_xact_user_tables where relname = any (${tables}::text[])`
    return row.count
  }
  // The counters may include earlier reads of this connection.
  const before = await count()
  await work()
  return (await count()) - before
}
