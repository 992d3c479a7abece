import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { parseAddress } from './connection/address.ts'
import { createPools, visitor, type Pools } from './connection/pools.ts'
import { lossError, unreachableError } from './connection/operator-errors.ts'
import { freeDisk } from './postgres/disk.ts'
import { embedded, folder } from './postgres/start-stop.ts'
import { readDatabaseId } from './connection/database-id.ts'
import { rebuildForMinorVersion } from './postgres/minor-version.ts'
import { ownerOfAuth, type OwnerOfAuth } from './schema/owner-of-auth.ts'
import { checkSchema } from './schema/schema-state.ts'
import { migrate, type MigrateOptions } from './schema/migrate.ts'
import { supervise } from './postgres/supervisor.ts'
import type { Sql } from './connection/sql.ts'

/** The settings that say where the data is. */
export interface DatabaseLocation {
  dataDir: string
  databaseUrl: string | undefined
  /** Whether `databaseUrl` leads to a pooler in transaction mode. */
  databasePooler?: 'transaction' | undefined
  /** The folder of the embedded PostgreSQL's programs; default the one from npm. */
  postgresBin?: string | undefined
}

/** An open database. */
export interface Database extends Omit<Pools, 'end'> {
  /** The location of the data, in words for people and without a password. */
  description: string
  /** Whether its schema is as new as this program. */
  isUpToDate: boolean
  /** The owner of its accounts. */
  ownerOfAuth: OwnerOfAuth
  /** The database's id, so that a server can say which database it uses; null if the user may not read it. */
  databaseId: string | null
  /** Whether `openDatabase` created the embedded database. */
  isNew: boolean
  /** Whether the embedded database was lost and its files are gone. */
  areFilesGone: () => boolean
  /** Changes the name under which others see the server that holds an embedded database. */
  renameHolder: (holder: string) => void
  /** Tells another server, which is starting, that this server is about to close the database. */
  announceClose: () => void
  /**
   * Closes the connections, and stops the embedded database unless somebody else uses it.
   *
   * @param how `at once` cancels pending work; otherwise pending work has a few seconds to end.
   */
  close: (how?: 'at once') => Promise<void>
  /** Closes the database at once. Removes an embedded one that `openDatabase` created, unless somebody else uses it. */
  discard: () => Promise<void>
}

/** The options of opening a database. */
export interface OpenOptions {
  /**
   * The handling of the schema. `migrate` (for the server, `restore` and `backup --check`) creates the database if there is none,
   * and brings its schema up to date. `check` (for the other commands) creates and changes nothing.
   */
  schema: 'migrate' | 'check'
  /** A server's name. A second server is refused and shown this name: only one may use the embedded database. */
  holder?: string
  /** Called before an embedded database is created, and may throw. */
  beforeCreation?: () => Promise<void>
  /** Called with sentences about the events of the database, while it is opened and while it is open. */
  onEvent?: (message: string) => void
  /** Called with connections of the schema's owner before an existing schema changes. */
  beforeMigration?: (sql: Sql) => Promise<void>
  /** Called with the names of the applied migrations, if any. */
  onMigrated?: (names: readonly string[]) => void
}

/**
 * Opens the database: the embedded one under `dataDir`, which is started if necessary, or the one at `databaseUrl`.
 *
 * With a `holder` (a server), the embedded database is restarted whenever it dies, until `close`. Without one (a command), it is
 * shared with a server and other commands.
 *
 * @throws {OperatorError} if the embedded database cannot run, is missing and may not be created, or is held by another
 *   server; if the database at `databaseUrl` cannot be reached; and if the schema cannot be used.
 */
export async function openDatabase(location: DatabaseLocation, options: OpenOptions): Promise<Database> {
  const { dataDir, databaseUrl, databasePooler, postgresBin: programs } = location
  if (databaseUrl !== undefined) {
    const { address, description } = parseAddress(databaseUrl)
    const { end, ...pools } = createPools(address, databasePooler, options.onEvent)
    try {
      const prepared = await prepare(pools, options, description)
      const discard = () => end('at once')
      // These concern only an embedded database.
      const elsewhere = {
        isNew: false,
        areFilesGone: () => false,
        renameHolder: () => {},
        announceClose: () => {},
      }
      return { ...pools, ...prepared, ...elsewhere, description, close: end, discard }
    } catch (error) {
      await end()
      throw unreachableError(error, description)
    }
  }

  const { onEvent = () => {} } = options
  const supervision = await supervise(dataDir, {
    ...options,
    programs,
    create: options.schema === 'migrate',
  })
  const { end, ...pools } = createPools(embedded(dataDir), undefined, onEvent)
  const close = async (how?: 'at once') => {
    await end(how)
    await supervision.end()
  }
  const discard = async () => {
    await end('at once')
    await supervision.end('and remove')
  }
  const description = `PostgreSQL in ${dataDir}`
  try {
    if (options.schema === 'migrate') await rebuildForMinorVersion(pools.owner, onEvent)
    const prepared = await prepare(pools, options, description, () => freeDisk(dataDir))
    const { isNew, areFilesGone, rename: renameHolder, announceEnd: announceClose } = supervision
    const held = { isNew, areFilesGone, renameHolder, announceClose }
    return { ...pools, ...prepared, ...held, description, close, discard }
  } catch (error) {
    await close()
    throw lossError(error, location, description)
  }
}

/** The oldest PostgreSQL that the schema runs on, as a `server_version_num`. */
export const minVersion = 150_000

/** The sentence about a PostgreSQL that is older. */
export const tooOldPostgres = (description: string, version: string): string =>
  `${description} is version ${version}, and 15 or later is needed.`

/** A database that is opened only to examine it. It may have any schema or none, and stays unchanged. */
export interface ReadOnlyDatabase extends Pick<Database, 'description' | 'close'> {
  /** Runs work in a read-only transaction, as the schema's owner. Its statements have a deadline. */
  read: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
  /** Whether `openForReading` had to start the embedded database. */
  started: boolean
  /** Whether the embedded database runs although its files are no longer in place. */
  isMisplaced: boolean
}

/**
 * Opens a database to examine it, with any schema.
 *
 * @param patience Timeout for a running database that does not respond, in milliseconds.
 * @throws {OperatorError} if it is missing, cannot be reached or does not respond.
 */
export async function openForReading(
  { dataDir, databaseUrl, databasePooler, postgresBin: programs }: DatabaseLocation,
  patience: number,
): Promise<ReadOnlyDatabase> {
  const reading =
    ({ server }: Pools): ReadOnlyDatabase['read'] =>
    (work) =>
      server.begin('read only', work)
  if (databaseUrl !== undefined) {
    const { address, description } = parseAddress(databaseUrl)
    const pools = createPools(address, databasePooler)
    const read = reading(pools)
    try {
      await read(async (sql) => sql`select 1`)
      return { read, description, started: false, isMisplaced: false, close: pools.end }
    } catch (error) {
      await pools.end('at once')
      throw unreachableError(error, description)
    }
  }
  const supervision = await supervise(dataDir, { create: false, programs, patience })
  const pools = createPools(embedded(dataDir))
  return {
    read: reading(pools),
    description: `PostgreSQL in ${dataDir}`,
    started: supervision.started,
    isMisplaced: !existsSync(join(dataDir, folder)),
    async close(how) {
      await pools.end(how)
      await supervision.end()
    },
  }
}

/** Checks or migrates the schema. Returns whether it is up to date, who owns the accounts, and the database's id. */
async function prepare(
  { owner, server, as }: Omit<Pools, 'end'>,
  { schema, onEvent, beforeMigration, onMigrated }: OpenOptions,
  description: string,
  readFreeDisk?: MigrateOptions['freeDisk'],
) {
  // Tries a connection of a pool with a deadline first, since the work below has no deadline.
  const [postgres] = await server<[{ version: string; number: number }]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number`
  if (postgres.number < minVersion) throw new OperatorError(tooOldPostgres(description, postgres.version))
  if (schema === 'check') {
    const isUpToDate = await checkSchema(owner)
    return { isUpToDate, ownerOfAuth: await ownerOfAuth(owner), databaseId: await readDatabaseId(owner) }
  }
  const { applied, edited } = await migrate(owner, {
    before: () => beforeMigration?.(owner) ?? Promise.resolve(),
    ...(onEvent && { onEvent }),
    ...(readFreeDisk && { freeDisk: readFreeDisk }),
  })
  if (applied.length > 0) onMigrated?.(applied)
  if (onEvent && edited.length > 0) {
    onEvent(`these migrations were edited after the project applied them: ${edited.join(', ')}`)
  }
  // Without this, the first visitor would meet a failure of the visitors' pool.
  await as(visitor).unsafe('select 1')
  return { isUpToDate: true, ownerOfAuth: await ownerOfAuth(owner), databaseId: await readDatabaseId(owner) }
}
