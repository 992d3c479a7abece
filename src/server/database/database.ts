import { setTimeout as wait } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'

import { ensureCluster, type Cluster } from './cluster.ts'
import { OperatorError } from '../operator-error.ts'
import { migrate } from './migrations.ts'

/** Where the data is: the settings that say so. */
export interface DatabaseLocation {
  dataDir: string
  databaseUrl: string | undefined
}

/** An open database, its schema up to date. */
export interface Database {
  /** Connections of the schema's owner, who may read everything. */
  owner: Sql
  /** Connections that may do what a visitor may, and nothing else. */
  anon: Sql
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
  migrations?: string
}

/** Any number that no other program's advisory lock on this database is likely to use. */
const holderLock = 5_610_742
/** How long a holder that is just going down is waited for. */
const holderTimeout = 3_000
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
  const { dataDir, databaseUrl } = location
  if (databaseUrl !== undefined) {
    const { host, pathname } = new URL(databaseUrl)
    const description = `PostgreSQL at ${host}${pathname}`
    const database = connectTo((connection) => postgres(databaseUrl, connection))
    try {
      await prepare(database, options)
    } catch (error) {
      await end(database)
      throw unreachable(error, description)
    }
    return { ...database, description, close: () => end(database) }
  }

  const release = await keepRunning(dataDir, options)
  const database = connectTo((connection) => postgres(onSocket(dataDir, connection)))
  try {
    await prepare(database, options)
  } catch (error) {
    await end(database)
    await release()
    throw error
  }
  return {
    ...database,
    description: `PostgreSQL in ${dataDir}`,
    close: async () => {
      await end(database)
      await release()
    },
  }
}

type Connections = Pick<Database, 'owner' | 'anon'>
type ConnectionOptions = postgres.Options<Record<string, never>>

const common: ConnectionOptions = {
  // A visitor waits for the answer: better a clear "not now" soon than silence.
  connect_timeout: 5,
  backoff: () => retryPause / 1000,
  // Its only use is for arrays, and it costs a query on each new connection.
  fetch_types: false,
  onnotice: () => {},
}

function onSocket(dataDir: string, options: ConnectionOptions): ConnectionOptions {
  return { ...options, host: dataDir, port: 5432, user: 'postgres', database: 'postgres' }
}

function connectTo(connect: (options: ConnectionOptions) => Sql): Connections {
  return {
    owner: connect({ ...common, max: 4, connection: { application_name: 'unplugged' } }),
    anon: connect({
      ...common,
      max: 10,
      // The role is part of the connection: setting it in each transaction would halve the rate of inserts.
      connection: { application_name: 'unplugged visitors', role: 'anon', statement_timeout: 10_000 },
    }),
  }
}

async function prepare({ owner }: Connections, { migrations = 'supabase/migrations' }: OpenOptions) {
  await migrate(owner, migrations)
}

function unreachable(error: unknown, description: string) {
  if (!(error instanceof Error) || !('code' in error)) return error
  // Class 28: refused; 3D000: no such database; the rest are the network's and the driver's.
  if (!/^(28|3D000|E[A-Z]+$|CONNECT)/.test(String(error.code))) return error
  return new OperatorError(
    `The ${description}, which DATABASE_URL names, cannot be used (${error.message}): check its address, user and password, and that it runs.`,
    { cause: error },
  )
}

async function end({ owner, anon }: Connections) {
  await Promise.all([owner.end({ timeout: 5 }), anon.end({ timeout: 5 })])
}

/**
 * Runs the embedded database until the returned function is called, which stops it unless somebody else
 * uses it. The holder's lock is held by a connection and so dies with this process.
 */
async function keepRunning(dataDir: string, { holder, onEvent = () => {} }: OpenOptions) {
  const released = new AbortController()
  let recovering: Promise<void> | undefined
  let cluster: Cluster
  let lock: Sql | undefined

  const hold = async (name: string) => {
    for (const deadline = Date.now() + 2 * holderTimeout; ;) {
      cluster = await ensureCluster(dataDir)
      try {
        lock = await takeLock(dataDir, name, () => {
          lock = undefined
          if (!released.signal.aborted) recovering ??= recover(name)
        })
        return
      } catch (error) {
        // The database was going down, or is coming up, at this very moment.
        if (error instanceof OperatorError || Date.now() > deadline) throw error
        await wait(retryPause)
      }
    }
  }

  const recover = async (name: string) => {
    onEvent('the database was lost; starting it again')
    while (!released.signal.aborted) {
      try {
        await hold(name)
        onEvent('the database is back')
        break
      } catch (error) {
        onEvent(`the database is not back yet: ${error instanceof Error ? error.message : String(error)}`)
        await wait(2 * retryPause)
      }
    }
    recovering = undefined
  }

  if (holder === undefined) cluster = await ensureCluster(dataDir)
  else await hold(holder)

  return async () => {
    released.abort()
    await recovering
    if (holder === undefined && cluster.started) {
      // Somebody who came meanwhile keeps it.
      lock = await takeLock(dataDir, 'a command', () => {}, 0).catch(() => undefined)
    }
    if (lock === undefined) return
    const stopped = cluster.stop()
    await Promise.all([stopped, lock.end({ timeout: 5 })])
  }
}

/**
 * Takes the lock of the one server that holds this database.
 *
 * @param onLost Called when the lock is gone because its connection is.
 * @param patience Milliseconds to wait for another holder.
 * @throws {OperatorError} naming the holder, where there is another.
 */
async function takeLock(dataDir: string, name: string, onLost: () => void, patience = holderTimeout) {
  let held = false
  const sql = postgres(
    onSocket(dataDir, {
      ...common,
      max: 1,
      max_lifetime: null,
      connection: { application_name: name.slice(0, 63), lock_timeout: Math.max(patience, 1) },
      onclose: () => {
        if (held) onLost()
        held = false
      },
    }),
  )
  try {
    await sql`select pg_advisory_lock(${holderLock})`
    held = true
    return sql
  } catch (error) {
    const refused = error instanceof postgres.PostgresError && error.code === '55P03'
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
