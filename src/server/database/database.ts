import { setTimeout as wait } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'

import { ensureCluster, type Cluster } from './cluster.ts'
import {
  connectToAddress,
  connectToSocket,
  socketConnection,
  unreachable,
  type Connections,
} from './connections.ts'
import { OperatorError } from '../operator-error.ts'
import { migrate } from './migrations.ts'

/** Where the data is: the settings that say so. */
export interface DatabaseLocation {
  dataDir: string
  databaseUrl: string | undefined
  /** Whether the database at `databaseUrl` is behind a pooler of transactions. */
  databasePooler?: 'transaction' | undefined
}

/** An open database, its schema up to date. */
export interface Database extends Pick<Connections, 'owner' | 'anon'> {
  /** Where the data is, for people: no password in it. */
  description: string
  /** Ends the connections, and stops the embedded database where nobody else uses it. */
  close(): Promise<void>
}

export interface OpenOptions {
  /** What a second server is told of this one, which is to have the embedded database for itself. */
  holder?: string
  /** Called with what happened to the database while it was open. */
  onEvent?: (message: string) => void
}

/** Any numbers that no other program's advisory locks on this database are likely to use. */
const holderLock = 5_610_742
const usersLock = 5_610_743
/** Milliseconds that somebody who is just leaving is waited for. */
const patience = 3_000
const retryPause = 250

/**
 * Opens the database: the embedded one under `dataDir`, started if need be, or the one at `databaseUrl`.
 *
 * With a `holder` (a server), the embedded database is kept running until `close`: it is started again
 * whenever it dies. Without one (a command), it is used beside whoever else does.
 *
 * @throws {OperatorError} where the embedded database cannot run or another server holds it, and where the
 *   one at `databaseUrl` cannot be reached or its user may not set up the schema.
 */
export async function openDatabase(location: DatabaseLocation, options: OpenOptions = {}): Promise<Database> {
  const { dataDir, databaseUrl, databasePooler } = location
  if (databaseUrl !== undefined) {
    const { host, pathname } = new URL(databaseUrl)
    const description = `PostgreSQL at ${host}${pathname}`
    const connections = connectToAddress(databaseUrl, databasePooler)
    const { owner, anon, end } = connections
    try {
      await prepare(connections)
    } catch (error) {
      await end()
      throw unreachable(error, description)
    }
    return { owner, anon, description, close: end }
  }

  const release = await keepRunning(dataDir, options)
  const connections = connectToSocket(dataDir)
  const { owner, anon, end } = connections
  const close = async () => {
    await end()
    await release()
  }
  try {
    await prepare(connections)
  } catch (error) {
    await close()
    throw error
  }
  return { owner, anon, description: `PostgreSQL in ${dataDir}`, close }
}

async function prepare({ owner, anon }: Connections) {
  await migrate(owner, 'supabase/migrations')
  // What would otherwise be found out by the first visitor.
  await anon.execute('select 1')
}

/**
 * Runs the embedded database until the returned function is called, which stops it unless somebody else uses
 * it. For a holder, it is started again whenever it dies.
 */
async function keepRunning(dataDir: string, { holder, onEvent = () => {} }: OpenOptions) {
  const released = new AbortController()
  let recovering: Promise<void> | undefined
  let cluster: Cluster
  let place: Sql | undefined

  const take = async () => {
    for (const deadline = Date.now() + 2 * patience; ;) {
      cluster = await ensureCluster(dataDir)
      try {
        place = await takePlace(dataDir, holder, () => {
          place = undefined
          if (holder !== undefined && !released.signal.aborted) recovering ??= recover()
        })
        return
      } catch (error) {
        // The database was going down, or is coming up, at this very moment.
        if (error instanceof OperatorError || Date.now() > deadline) throw error
        await wait(retryPause)
      }
    }
  }

  const recover = async () => {
    onEvent('the database was lost; starting it again')
    while (!released.signal.aborted) {
      try {
        await take()
        onEvent('the database is back')
        break
      } catch (error) {
        onEvent(`the database is not back yet: ${error instanceof Error ? error.message : String(error)}`)
        await wait(2 * retryPause)
      }
    }
    recovering = undefined
  }

  await take()
  return async () => {
    released.abort()
    await recovering
    if (place === undefined) return
    const alone = await leavePlace(place)
    // The lock is kept until the database is down, so that whoever comes now waits and then starts it again.
    await Promise.all([alone ? cluster.stop() : undefined, place.end({ timeout: 5 })])
  }
}

/**
 * Takes a place at the embedded database, on a connection of its own, with which it ends: a shared lock, and
 * for the one server that holds the database another.
 *
 * @param onLost Called when the place is gone because its connection is.
 * @throws {OperatorError} naming the holder, where there is another.
 */
async function takePlace(dataDir: string, holder: string | undefined, onLost: () => void) {
  let taken = false
  const sql = socketConnection(dataDir, {
    max: 1,
    max_lifetime: null,
    connection: { application_name: (holder ?? 'a command').slice(0, 63), lock_timeout: patience },
    onclose: () => {
      if (taken) onLost()
      taken = false
    },
  })
  try {
    await sql`select pg_advisory_lock_shared(${usersLock})`
    if (holder !== undefined) await sql`select pg_advisory_lock(${holderLock})`
    taken = true
    return sql
  } catch (error) {
    const refused = holder !== undefined && error instanceof postgres.PostgresError && error.code === '55P03'
    const [other] = refused
      ? await sql<{ name: string }[]>`
          select application_name as name from pg_stat_activity
          join pg_locks using (pid) where locktype = 'advisory' and objid = ${holderLock} and granted`
      : []
    await sql.end({ timeout: 1 })
    if (!refused) throw error
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which is in use by ${other?.name ?? 'another server'}: stop that one, or give this one another DATA_DIR.`,
    )
  }
}

/** Gives up the place; tells whether nobody else has one, and then keeps others from taking one. */
async function leavePlace(sql: Sql) {
  try {
    await sql`select pg_advisory_unlock_shared(${usersLock})`
    const [row] = await sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${usersLock}) as alone`
    return row?.alone === true
  } catch {
    // The database is gone already: there is nothing to stop.
    return false
  }
}
