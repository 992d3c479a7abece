import postgres, { type Row, type RowList, type Sql } from 'postgres'

/**
 * Who calls the database through the data interface: a visitor, or somebody who signed in, with what their
 * token says of them.
 */
export type Caller = { role: 'anon' } | { role: 'authenticated'; claims: Readonly<Record<string, unknown>> }

export const visitor: Caller = { role: 'anon' }

/** The two kinds of connections to one database. */
export interface Connections {
  /** Of the schema's owner, who may read everything. */
  owner: Sql
  /** Connections that may do what the caller may, and nothing else. */
  as: (caller: Caller) => CallerConnection
  end: () => Promise<void>
}

export interface CallerConnection {
  /**
   * Runs one statement.
   *
   * @param parameters Its `$1` and so on.
   * @param options.prepare Whether the statement comes often enough to be kept prepared, where that can be.
   * @returns The rows, and in `count` how many it touched.
   */
  execute(statement: string, parameters?: string[], options?: { prepare: boolean }): Promise<RowList<Row[]>>
}

export type Options = postgres.Options<Record<string, never>>

/** Milliseconds after which a caller's statement is given up. */
const statementTimeout = 10_000

const common: Options = {
  // A visitor waits for the answer: better a clear "not now" soon than silence.
  connect_timeout: 5,
  backoff: () => 0.25,
  // Its only use is for arrays, and it costs a query on each new connection.
  fetch_types: false,
  onnotice: () => {},
}

/** A connection, or several, to the embedded database as its superuser. */
export function socketConnection(dataDir: string, options: Options): Sql {
  return postgres({
    ...common,
    ...options,
    host: dataDir,
    port: 5432,
    user: 'postgres',
    database: 'postgres',
  })
}

/** Connections to the embedded database. */
export function connectToSocket(dataDir: string): Connections {
  return connections((options) => socketConnection(dataDir, options), undefined)
}

/**
 * Connections to another database.
 *
 * @param address What its address says.
 * @param pooler Whether a pooler stands before it that gives each transaction another connection.
 */
export function connectToAddress(address: Options, pooler: 'transaction' | undefined): Connections {
  const connect = (options: Options) =>
    postgres({
      ...common,
      ...options,
      ...address,
      connection: { ...address.connection, ...options.connection },
    })
  return connections(connect, pooler)
}

function connections(connect: (options: Options) => Sql, pooler: 'transaction' | undefined): Connections {
  // Such a pooler takes no role with a connection, and forgets what was prepared on it.
  const pooled: Options = pooler === undefined ? {} : { prepare: false }
  const owner = connect({ ...pooled, max: 4, connection: { application_name: 'unplugged' } })
  const organisers = connect({ ...pooled, max: 4, connection: { application_name: 'unplugged organisers' } })
  const visitors = connect({
    ...pooled,
    max: 10,
    connection: {
      application_name: 'unplugged visitors',
      // The role is part of the connection: setting it in each transaction would halve the rate of inserts.
      ...(pooler === undefined ? { role: visitor.role, statement_timeout: statementTimeout } : {}),
    },
  })
  const asVisitor: CallerConnection =
    pooler === undefined
      ? { execute: (...statement) => visitors.unsafe(...statement) }
      : asRole(visitors, visitor)
  return {
    owner,
    as: (caller) => (caller.role === 'anon' ? asVisitor : asRole(organisers, caller)),
    async end() {
      await Promise.all([owner, organisers, visitors].map((sql) => sql.end({ timeout: 5 })))
    },
  }
}

/** Each statement in a transaction of its own, which takes the caller's role and claims at its beginning. */
function asRole(sql: Sql, caller: Caller): CallerConnection {
  const role = `set local role ${caller.role}; set local statement_timeout = ${statementTimeout}`
  const claims = 'claims' in caller ? JSON.stringify(caller.claims) : undefined
  return {
    execute: (statement, parameters, options) =>
      sql.begin(async (transaction) => {
        const preparation = [
          transaction.unsafe(role),
          ...(claims === undefined
            ? []
            : [transaction`select set_config('request.jwt.claims', ${claims}, true)`]),
        ]
        const rows = transaction.unsafe(statement, parameters, options)
        // Sent together. Where the role is refused, the transaction is over and so is the statement.
        await Promise.all([...preparation, rows])
        return rows
      }),
  }
}
