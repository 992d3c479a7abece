import { setTimeout as wait } from 'node:timers/promises'
import { advisoryLocks } from '../connection/advisory-locks.ts'
import { isDatabaseError } from '../connection/connection.ts'

import { OperatorError } from '../../../settings/operator-error.ts'
import type { Connection } from '../connection/connection.ts'
import { openConnection } from '../connection/open-connection.ts'
import { embedded } from './start-stop.ts'
import type { Sql } from '../connection/sql.ts'

/** Timeout of waiting for a lock, in milliseconds. */
const lockTimeout = 3_000
/** The prefix of a holder's name when it is about to stop. */
const stoppingPrefix = 'stopping: '
/** The maximum length of a connection's name in PostgreSQL, in bytes. */
const maxNameLength = 63
/** Milliseconds after which a database that does not respond counts as used by nobody else. */
const unlockTimeout = 5_000

/**
 * Locks the embedded database, on a separate connection that holds the locks until it ends.
 *
 * @param holder The name of a server; a command has no name, and takes only the shared lock.
 * @param onLost Called when the locks are lost with their connection.
 * @throws {OperatorError} with the other server's name if another server holds the database.
 * @throws {Error} if the other server is about to stop, or has just stopped.
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
    await sql`select pg_advisory_lock_shared(${advisoryLocks.inUse})`
    if (holder !== undefined) await sql`select pg_advisory_lock(${advisoryLocks.server})`
    void connection.ended.then(onLost)
    return connection
  } catch (error) {
    const isRefused = holder !== undefined && isDatabaseError(error) && error.code === '55P03'
    const otherHolder = isRefused ? await readHolder(sql) : undefined
    await connection.close(1_000)
    if (!isRefused) throw error
    // The other server is stopping, or has stopped meanwhile.
    if (otherHolder === undefined || otherHolder.startsWith(stoppingPrefix)) {
      throw new Error(`${otherHolder ?? 'another server'} still has it`, { cause: error })
    }
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which is in use by ${otherHolder}: stop that one, or give this one another DATA_DIR.`,
      { cause: error },
    )
  }
}

/** Changes the name under which others see the holder. */
export function renameHolder({ sql }: Connection, holder: string): void {
  // A failure means that the database is lost: nobody can read the name.
  sql`select set_config('application_name', ${holder.slice(0, maxNameLength)}, false)`.catch(() => {})
}

/** Marks the holder as about to stop, so that a server that is refused the lock tries again. */
export function announceStop(connection: Connection, holder: string): void {
  renameHolder(connection, stoppingPrefix + holder)
}

/** A server's name as a holder: its address and its process. */
export function serverName(host: string, port: number): string {
  return `the server on ${host}:${port}, process ${process.pid}`
}

async function readHolder(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    join pg_locks using (pid) where locktype = 'advisory' and objid = ${advisoryLocks.server} and granted`
  return row?.name
}

/**
 * Finds the address of the server that holds the embedded database.
 *
 * @returns Undefined if no server holds it, such as with `DATABASE_URL`.
 */
export async function listeningHolder(sql: Sql): Promise<{ host: string; port: number } | undefined> {
  const [, host, port] = /the server on (.+):(\d+)(?:,|$)/.exec((await readHolder(sql)) ?? '') ?? []
  return host === undefined ? undefined : { host, port: Number(port) }
}

/** Releases the shared lock. If nobody else has it, locks everybody else out and returns true. */
export async function unlock({ sql }: Connection): Promise<boolean> {
  const unlockAndTry = async () => {
    await sql`select pg_advisory_unlock_shared(${advisoryLocks.inUse})`
    const [row] = await sql<
      { is_alone: boolean }[]
    >`select pg_try_advisory_lock(${advisoryLocks.inUse}) as is_alone`
    return row?.is_alone === true
  }
  // An error means that the database is gone and need not be stopped. A timeout means that it is frozen and must be stopped.
  return Promise.race([unlockAndTry().catch(() => false), wait(unlockTimeout, true, { ref: false })])
}
