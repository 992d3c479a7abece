import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseError } from './connection.ts'

import { OperatorError } from '../../settings/operator-error.ts'
import type { Connection } from './connection.ts'
import { openConnection } from './open-connection.ts'
import { embedded } from './pools.ts'
import type { Sql } from './sql.ts'

/** Any numbers that no other program's advisory locks on this database are likely to use. */
const holderLock = 5_610_742
const usersLock = 5_610_743
/** Milliseconds that a lock is waited for at a time. */
const lockTimeout = 3_000
/** The beginning of a holder's name once the holder is about to leave. */
const leaving = 'stopping: '
/** The longest name that PostgreSQL keeps of a connection, in bytes. */
const longestName = 63
/** Milliseconds after which a database that does not answer counts as used by nobody else. */
const unlockTimeout = 5_000

/**
 * Locks the embedded database, on a connection of its own, with which the lock ends. Every user of the database has a
 * shared lock, and the one server that holds it has a second lock.
 *
 * @param onLost Called when the lock is gone because its connection is.
 * @throws {OperatorError} naming the holder, where there is another.
 */
export async function acquireLock(
  dataDir: string,
  holder: string | undefined,
  onLost: () => void,
): Promise<Connection> {
  const connection = await openConnection({
    ...embedded(dataDir),
    parameters: {
      application_name: (holder ?? 'a command').slice(0, longestName),
      lock_timeout: lockTimeout,
    },
  })
  const { sql } = connection
  try {
    await sql`select pg_advisory_lock_shared(${usersLock})`
    if (holder !== undefined) await sql`select pg_advisory_lock(${holderLock})`
    void connection.ended.then(onLost)
    return connection
  } catch (error) {
    const refused = holder !== undefined && isDatabaseError(error) && error.code === '55P03'
    const other = refused ? await holderOf(sql) : undefined
    await connection.close(1_000)
    if (!refused) throw error
    // The holder is stopping, or has stopped since.
    if (other === undefined || other.startsWith(leaving)) {
      throw new Error(`${other ?? 'another server'} still has it`, { cause: error })
    }
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which is in use by ${other}: stop that one, or give this one another DATA_DIR.`,
      { cause: error },
    )
  }
}

/** Lets others see the holder by another name. */
export function renameHolder({ sql }: Connection, holder: string): void {
  // Where the database is gone, there is nobody to be told.
  sql`select set_config('application_name', ${holder.slice(0, longestName)}, false)`.catch(() => {})
}

/** Lets whoever is refused the lock see that its holder is about to leave. */
export function announceLeaving(connection: Connection, holder: string): void {
  renameHolder(connection, leaving + holder)
}

/** A server's name as a holder: its address, and its process. */
export function serverName(host: string, port: number): string {
  return `the server on ${host}:${port}, process ${process.pid}`
}

async function holderOf(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    join pg_locks using (pid) where locktype = 'advisory' and objid = ${holderLock} and granted`
  return row?.name
}

/**
 * Finds where the server listens that holds the embedded database.
 *
 * @returns Nothing where no server holds it, as where the database is at `DATABASE_URL`.
 */
export async function listeningHolder(sql: Sql): Promise<{ host: string; port: number } | undefined> {
  const [, host, port] = /the server on (.+):(\d+)(?:,|$)/.exec((await holderOf(sql)) ?? '') ?? []
  return host === undefined ? undefined : { host, port: Number(port) }
}

/** Unlocks. Tells whether nobody else has a lock, and in that case keeps others from getting one. */
export async function unlock({ sql }: Connection): Promise<boolean> {
  const ask = async () => {
    await sql`select pg_advisory_unlock_shared(${usersLock})`
    const [row] = await sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${usersLock}) as alone`
    return row?.alone === true
  }
  // The database may be gone already, and then stopping does nothing. A frozen one is worth trying to stop.
  return Promise.race([ask().catch(() => false), wait(unlockTimeout, true, { ref: false })])
}
