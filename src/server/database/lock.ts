import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseError } from './connection.ts'

import { OperatorError } from '../../settings/operator-error.ts'
import { openConnection, type Connection } from './connection.ts'
import { embedded } from './pools.ts'

/** Any numbers that no other program's advisory locks on this database are likely to use. */
const holderLock = 5_610_742
const usersLock = 5_610_743
/** Milliseconds that a lock is waited for at a time. */
const lockTimeout = 3_000
/** The beginning of a holder's name once the holder is about to leave. */
const leaving = 'stopping: '
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
    parameters: { application_name: (holder ?? 'a command').slice(0, 63), lock_timeout: lockTimeout },
  })
  const { sql } = connection
  try {
    await sql`select pg_advisory_lock_shared(${usersLock})`
    if (holder !== undefined) await sql`select pg_advisory_lock(${holderLock})`
    void connection.ended.then(onLost)
    return connection
  } catch (error) {
    const refused = holder !== undefined && isDatabaseError(error) && error.code === '55P03'
    const [other] = refused
      ? await sql<{ name: string }[]>`
          select application_name as name from pg_stat_activity
          join pg_locks using (pid) where locktype = 'advisory' and objid = ${holderLock} and granted`
      : []
    await connection.close(1_000)
    if (!refused) throw error
    // The holder is stopping, or has stopped since.
    if (other === undefined || other.name.startsWith(leaving)) {
      throw new Error(`${other?.name ?? 'another server'} still has it`, { cause: error })
    }
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which is in use by ${other.name}: stop that one, or give this one another DATA_DIR.`,
      { cause: error },
    )
  }
}

/** Lets whoever is refused the lock see that its holder is about to leave. */
export function announceLeaving({ sql }: Connection, holder: string): void {
  // Where the database is gone, there is nobody to be told.
  sql`select set_config('application_name', ${(leaving + holder).slice(0, 63)}, false)`.catch(() => {})
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
