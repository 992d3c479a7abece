import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseError } from './connection.ts'

import { OperatorError } from '../../settings/operator-error.ts'
import type { Connection } from './connection.ts'
import { openConnection } from './open-connection.ts'
import { embedded } from './pools.ts'
import type { Sql } from './sql.ts'

/**
 * Arbitrary numbers that are unlikely to collide with another program's advisory locks. One server has the first lock. Every
 * process that uses the database shares the second.
 */
const serverLock = 5_610_742
const inUseLock = 5_610_743
/** Timeout of waiting for a lock, in milliseconds. */
const lockTimeout = 3_000
/** The prefix of a holder's name when it is about to stop. */
const stoppingPrefix = 'stopping: '
/** The longest name of a connection that PostgreSQL keeps, in bytes. */
const maxNameLength = 63
/** Milliseconds after which a database that does not respond counts as used by nobody else. */
const unlockTimeout = 5_000

/**
 * Locks the embedded database, on a separate connection that holds the locks until it ends.
 *
 * @param holder The name of a server; a command has no name, and takes only the shared lock.
 * @param onLost Called when the locks are lost with their connection.
 * @throws {OperatorError} with the other server's name, where it holds the database.
 */
export async function acquireLock(
  dataDir: string,
  holder: string | undefined,
  onLost: () => void,
): Promise<Connection> {
  const connection = await openConnection({
    ...embedded(dataDir),
    parameters: {
      application_name: (holder ?? 'a command').slice(0, maxNameLength),
      lock_timeout: lockTimeout,
    },
  })
  const { sql } = connection
  try {
    await sql`select pg_advisory_lock_shared(${inUseLock})`
    if (holder !== undefined) await sql`select pg_advisory_lock(${serverLock})`
    void connection.ended.then(onLost)
    return connection
  } catch (error) {
    const refused = holder !== undefined && isDatabaseError(error) && error.code === '55P03'
    const other = refused ? await holderOf(sql) : undefined
    await connection.close(1_000)
    if (!refused) throw error
    // The holder is stopping, or has stopped since.
    if (other === undefined || other.startsWith(stoppingPrefix)) {
      throw new Error(`${other ?? 'another server'} still has it`, { cause: error })
    }
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which is in use by ${other}: stop that one, or give this one another DATA_DIR.`,
      { cause: error },
    )
  }
}

/** Renames the holder in the list that others see. */
export function renameHolder({ sql }: Connection, holder: string): void {
  // A failure means that the database is lost: nobody can read the name.
  sql`select set_config('application_name', ${holder.slice(0, maxNameLength)}, false)`.catch(() => {})
}

/** Tells a server that is refused the lock that the holder is about to stop. */
export function announceStop(connection: Connection, holder: string): void {
  renameHolder(connection, stoppingPrefix + holder)
}

/** A server's name as a holder: its address and its process. */
export function serverName(host: string, port: number): string {
  return `the server on ${host}:${port}, process ${process.pid}`
}

async function holderOf(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    join pg_locks using (pid) where locktype = 'advisory' and objid = ${serverLock} and granted`
  return row?.name
}

/**
 * Finds the address of the server that holds the embedded database.
 *
 * @returns Undefined where no server holds it, such as with `DATABASE_URL`.
 */
export async function listeningHolder(sql: Sql): Promise<{ host: string; port: number } | undefined> {
  const [, host, port] = /the server on (.+):(\d+)(?:,|$)/.exec((await holderOf(sql)) ?? '') ?? []
  return host === undefined ? undefined : { host, port: Number(port) }
}

/** Releases the shared lock. If nobody else has it, locks everybody else out and returns true. */
export async function unlock({ sql }: Connection): Promise<boolean> {
  const unlockAndTry = async () => {
    await sql`select pg_advisory_unlock_shared(${inUseLock})`
    const [row] = await sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${inUseLock}) as alone`
    return row?.alone === true
  }
  // An error means that the database is gone and need not be stopped. A timeout means that it is frozen and must be stopped.
  return Promise.race([unlockAndTry().catch(() => false), wait(unlockTimeout, true, { ref: false })])
}
