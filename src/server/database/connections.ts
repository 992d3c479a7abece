import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import postgres, { type Row, type RowList, type Sql, type TransactionSql } from 'postgres'

import { createLanes, type Run } from './lanes.ts'
import { shareLanes } from './shares.ts'

/**
 * Who calls the database through the data interface: a visitor, or somebody who signed in, with what their
 * token says of them.
 */
export type Caller = { role: 'anon' } | { role: 'authenticated'; claims: Readonly<Record<string, unknown>> }

export const visitor: Caller = { role: 'anon' }

/** The two kinds of connections to one database. */
export interface Connections {
  /** Connections of the schema's owner, who may read everything, for work without a time limit. */
  owner: Sql
  /** The same with a deadline, for a server: work that the database does not answer in time fails. */
  asOwner: Run
  /** The same for the sign-in alone, so that many people who sign in hold up nothing else. */
  forSignIn: Run
  /** Connections that may do what the caller may, and nothing else. */
  as: (caller: Caller) => CallerConnection
  /** Ends all connections, after a few seconds for the work under way, or at once. */
  end: (how?: 'at once') => Promise<void>
}

export interface CallerConnection {
  /**
   * Runs one statement.
   *
   * @param parameters Its `$1` and so on.
   * @param options.prepare Whether the statement comes often enough to be kept prepared, where that can be.
   * @param options.readOnly Whether it may only read.
   * @returns The rows, and in `count` how many it touched.
   */
  execute(
    statement: string,
    parameters?: string[],
    options?: { prepare: boolean; readOnly?: boolean },
  ): Promise<RowList<Row[]>>
}

export type Options = postgres.Options<Record<string, never>>

/** Milliseconds after which the database gives up a statement; behind a pooler of transactions a caller's alone. */
const statementTimeout = 10_000
const organisersLanes = 4
/** Milliseconds after which the database counts as frozen, since it should have given the statement up by then. */
export const deadline = 12_000

const common: Options = {
  // A visitor waits for the answer: better a clear "not now" soon than silence.
  connect_timeout: 5,
  backoff: () => 0.25,
  // The types are only needed for arrays, and reading them costs a query on each new connection.
  fetch_types: false,
  onnotice: () => {},
}

/** A connection, or several, to the embedded database as its superuser. */
export function socketConnection(dataDir: string, options: Options): Sql {
  return postgres({
    ...common,
    port: 5432,
    ...options,
    host: dataDir,
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
  const lanesOf = (name: string, count: number, parameters: Options['connection'] = {}) => {
    const connection = { application_name: name, ...parameters }
    const open = (onSocket: (socket: Socket) => void) =>
      connect({ ...pooled, max: 1, connection, ...bySockets(onSocket) })
    return createLanes(open, count, deadline)
  }
  const owner = connect({
    ...pooled,
    ...bySockets(),
    max: 4,
    idle_timeout: 20,
    connection: { application_name: 'unplugged' },
  })
  // A statement that fails by the deadline also ends in the database, and holds its locks no longer.
  const ending = pooler === undefined ? { statement_timeout: statementTimeout } : {}
  const owners = lanesOf('unplugged', 4, ending)
  const signIn = lanesOf('unplugged sign-in', 4, ending)
  const organisers = lanesOf('unplugged organisers', organisersLanes)
  const ofPerson = shareLanes(organisers.run, organisersLanes, deadline)
  const visitors = lanesOf(
    'unplugged visitors',
    10,
    // The role is part of the connection: setting it in each transaction would halve the rate of inserts.
    pooler === undefined ? { role: visitor.role, ...ending } : {},
  )
  const asVisitor: CallerConnection =
    pooler === undefined
      ? { execute: (...statement) => visitors.run((sql) => sql.unsafe(...statement)) }
      : asRole(visitors.run, visitor)
  return {
    owner,
    asOwner: owners.run,
    forSignIn: signIn.run,
    as: (caller) =>
      caller.role === 'anon' ? asVisitor : asRole(ofPerson(String(caller.claims['sub'])), caller),
    async end(how) {
      const timeout = how === 'at once' ? 0 : 5
      const lanes = [owners, signIn, organisers, visitors].map((each) => each.end(timeout))
      await Promise.all([owner.end({ timeout }), ...lanes])
    },
  }
}

/** Milliseconds between two sockets of one driver: something that accepts and closes would be called without a pause. */
const reopenPause = 250

/** Lets the driver open its sockets by way of us: an option of the driver's that its types leave out. */
function bySockets(onSocket: (socket: Socket) => void = () => {}): Options {
  let next = 0
  const open = async ({ host: [host = ''], port: [port = 0], path }: postgres.ParsedOptions) => {
    const pause = next - performance.now()
    next = performance.now() + Math.max(pause, 0) + reopenPause
    // Also where there is no pause: the driver listens for errors only after it has waited itself.
    await (pause > 0 ? wait(pause) : Promise.resolve())
    const socket = path ? connectSocket(path) : connectSocket(port, host)
    onSocket(socket)
    // The driver checks the certificate against this name.
    return Object.assign(socket, { host })
  }
  return { socket: open } as Options
}

/** Each statement in a transaction of its own, which takes the caller's role and claims at its beginning. */
function asRole(run: Run, caller: Caller): CallerConnection {
  const role = `set local role ${caller.role}; set local statement_timeout = ${statementTimeout}`
  const claims = 'claims' in caller ? JSON.stringify(caller.claims) : undefined
  const begin = async (
    transaction: TransactionSql,
    ...[statement, parameters, options]: Parameters<CallerConnection['execute']>
  ) => {
    const preparation = [
      transaction.unsafe(role),
      ...(claims === undefined
        ? []
        : [transaction`select set_config('request.jwt.claims', ${claims}, true)`]),
    ]
    const rows = transaction.unsafe(statement, parameters, options)
    // They are sent together. Where the role is refused, the transaction has failed, and so does the statement.
    await Promise.all([...preparation, rows])
    return rows
  }
  return {
    execute: (...statement) =>
      run(
        (sql) =>
          sql.begin(statement[2]?.readOnly === true ? 'read only' : '', (transaction) =>
            begin(transaction, ...statement),
          ) as Promise<RowList<Row[]>>,
      ),
  }
}
