import { escapeLiteral } from 'pg'

import type { Address } from './connection.ts'
import { port, user } from './files.ts'
import { createPool, type Pool, type PoolOptions } from './pool.ts'
import { sqlOf, type Sql } from './sql.ts'

/**
 * Who calls the database through the data interface: a visitor, or somebody who signed in, with what their
 * token says of them.
 */
export type Caller = { role: 'anon' } | { role: 'authenticated'; claims: Readonly<Record<string, unknown>> }

export const visitor: Caller = { role: 'anon' }

/** Who asks one database, each with connections of their own. */
export interface Pools {
  /**
   * The database's user, for work without a time limit: migrations, commands, backups. It may do what the schema's owner may: it is
   * that owner, or the superuser of the embedded database.
   */
  owner: Sql
  /** The same for a server's own work. A statement that takes too long fails. */
  server: Sql
  /** The same for the sign-in, so that many people who sign in hold up nothing else. */
  signIn: Sql
  /** Whoever calls, with their rights and nothing else. */
  as: (caller: Caller) => Sql
  /** Ends all connections, after a few seconds for the work under way, or at once. */
  end: (how?: 'at once') => Promise<void>
}

/** Milliseconds after which the database gives up a statement; behind a pooler of transactions a caller's alone. */
const statementTimeout = 10_000
/** Milliseconds after which the database counts as frozen, since it should have given the statement up by then. */
export const deadline = 12_000
/** Milliseconds after which a connection of the owner's that nobody uses is closed. */
const idleTimeout = 20_000

/** The embedded database, as its superuser. */
export const embedded = (dataDir: string): Address => ({ hosts: [dataDir], port, user, database: 'postgres' })

/**
 * Makes the pools of a database, which open their connections when they are needed.
 *
 * @param pooler Whether a pooler stands before it that gives each transaction another connection.
 */
export function createPools(address: Address, pooler?: 'transaction'): Pools {
  const isDirect = pooler === undefined
  const poolOf = (name: string, options: PoolOptions, parameters: Address['parameters'] = {}) => {
    const session = { application_name: name, ...parameters, ...address.parameters }
    // Such a pooler forgets what was prepared on a connection.
    return createPool({ ...address, parameters: session }, { ...options, keepsPrepared: isDirect })
  }
  // A statement that fails by the deadline also ends in the database. Such a pooler takes no parameters with a connection.
  const ending = isDirect ? { statement_timeout: statementTimeout } : {}
  const owner = poolOf('unplugged', { size: 4, idleTimeout })
  const server = poolOf('unplugged', { size: 4, deadline }, ending)
  const signIn = poolOf('unplugged sign-in', { size: 4, deadline }, ending)
  const organisers = poolOf('unplugged organisers', { size: 4, deadline })
  // The role is part of the connection: setting it in each transaction would halve the rate of inserts.
  const asVisitor = isDirect ? { role: visitor.role, ...ending } : {}
  const visitors = poolOf('unplugged visitors', { size: 10, deadline }, asVisitor)
  const ofVisitor = isDirect ? visitors : asRole(visitors, visitor)
  return {
    owner,
    server,
    signIn,
    as: (caller) => (caller.role === 'anon' ? ofVisitor : asRole(organisers, caller)),
    async end(how) {
      const patience = how === 'at once' ? 0 : undefined
      await Promise.all([owner, server, signIn, organisers, visitors].map((pool) => pool.end(patience)))
    },
  }
}

/** Each statement in a transaction of its own, which begins with the caller's role, claims and time limit. */
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
