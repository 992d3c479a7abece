import { escapeLiteral } from 'pg'

import type { Address } from './connection.ts'
import { createPool, type Pool, type PoolCounts, type PoolOptions } from './pool.ts'
import { sqlOf, type Sql } from './sql.ts'

/** A caller of the data interface: a visitor, or a signed-in person with the claims of their token. */
export type Caller = { role: 'anon' } | { role: 'authenticated'; claims: Readonly<Record<string, unknown>> }

/** The caller of requests without a token. */
export const visitor: Caller = { role: 'anon' }

/** The pools of one database, each with its own connections. */
export interface Pools {
  /**
   * The database's user, for work without a time limit: migrations, commands, backups. It has the rights of the schema's owner:
   * it is that owner, or the superuser of the embedded database.
   */
  owner: Sql
  /** The same user for a server's own work. Statements that take too long fail. */
  server: Sql
  /** The same user for sign-in requests, so that many of them delay nothing else. */
  signIn: Sql
  /** Connections with the rights of a caller. */
  as: (caller: Caller) => Sql
  /** Counts the connections of each pool. */
  countConnections: () => Record<string, PoolCounts>
  /** Closes all connections, after a few seconds for pending work, or at once. */
  end: (how?: 'at once') => Promise<void>
}

/** Milliseconds after which the database cancels a statement; behind a pooler in transaction mode, only a caller's statement. */
const statementTimeout = 10_000
/** Milliseconds after which a statement fails and the database counts as frozen: it should have cancelled the statement. */
export const deadline = 12_000
/** Milliseconds after which an idle connection of the owner is closed. */
const idleTimeout = 20_000

/**
 * Creates the pools of a database, which open connections on demand.
 *
 * @param pooler `transaction` if a pooler gives each transaction another connection.
 * @param onEvent Called with a sentence when a transaction is tried once more after a deadlock. The owner's are not, since migrations,
 *   commands and backups do more than what a transaction undoes.
 */
export function createPools(
  address: Address,
  pooler?: 'transaction',
  onEvent: (message: string) => void = () => {},
): Pools {
  const isDirect = pooler === undefined
  const poolOf = (name: string, options: PoolOptions, parameters: Address['parameters'] = {}) => {
    const session = { application_name: name, ...parameters, ...address.parameters }
    // A pooler in transaction mode loses prepared statements.
    return createPool({ ...address, parameters: session }, { ...options, reusesPrepared: isDirect })
  }
  const onDeadlock = (name: string) =>
    onEvent(
      `a deadlock${name === '' ? '' : ` in ${name}`}: PostgreSQL undid the transaction, which is tried once more`,
    )
  const limits = { deadline, onDeadlock }
  // A statement that misses the deadline should end in the database too. A pooler in transaction mode takes no start parameters.
  const withTimeout = isDirect ? { statement_timeout: statementTimeout } : {}
  const owner = poolOf('unplugged', { size: 4, idleTimeout })
  const server = poolOf('unplugged', { size: 4, ...limits }, withTimeout)
  const signIn = poolOf('unplugged sign-in', { size: 4, ...limits }, withTimeout)
  const organisers = poolOf('unplugged organisers', { size: 4, ...limits })
  // The role is a start parameter: setting it in each transaction would halve the rate of inserts.
  const visitorParameters = isDirect ? { role: visitor.role, ...withTimeout } : {}
  const visitors = poolOf('unplugged visitors', { size: 10, ...limits }, visitorParameters)
  const pools = { owner, server, 'sign-in': signIn, organisers, visitors }
  const visitorSql = isDirect ? visitors : asRole(visitors, visitor)
  return {
    owner,
    server,
    signIn,
    as: (caller) => (caller.role === 'anon' ? visitorSql : asRole(organisers, caller)),
    countConnections: () =>
      Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, pool.counts()])),
    async end(how) {
      const patience = how === 'at once' ? 0 : undefined
      await Promise.all(Object.values(pools).map((pool) => pool.end(patience)))
    },
  }
}

/** Runs each statement in its own transaction, which begins with the caller's role, token claims and time limit. */
function asRole(pool: Pool, caller: Caller): Sql {
  const isPerson = caller.role === 'authenticated'
  const claims = isPerson
    ? `; select set_config('request.jwt.claims', ${escapeLiteral(JSON.stringify(caller.claims))}, true)`
    : ''
  const person = isPerson ? String(caller.claims['sub']) : undefined
  const inTransaction = <Result>(mode: string, work: (sql: Sql) => Promise<Result>) => {
    const beginning = `begin ${mode}; set local role ${caller.role}; set local statement_timeout = ${statementTimeout}${claims}`
    return pool.withConnection((connection) => connection.transact(beginning, work), person)
  }
  return sqlOf({
    run: (text, parameters, options) =>
      inTransaction(options.readOnly === true ? 'read only' : '', (sql) =>
        sql.unsafe(text, parameters, options),
      ),
    begin: inTransaction,
  })
}
