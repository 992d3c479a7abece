import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { parseAddress } from './address.ts'
import { createPools, embedded, visitor, type Pools } from './pools.ts'
import { unreachable } from './failures.ts'
import { folder } from './files.ts'
import { readMark } from './mark.ts'
import { followMinorVersion } from './minor-version.ts'
import { ownerOfAuth, type OwnerOfAuth } from './owner-of-auth.ts'
import { checkSchema } from './schema-state.ts'
import { freeDisk } from './room.ts'
import { migrate, type MigrateOptions } from './schema.ts'
import { supervise } from './supervisor.ts'
import { upgradeFiles } from './upgrade/upgrade.ts'
import type { Sql } from './sql.ts'

/** Where the data is: the settings that say so. */
export interface DatabaseLocation {
  dataDir: string
  databaseUrl: string | undefined
  /** Whether the database at `databaseUrl` is behind a pooler of transactions. */
  databasePooler?: 'transaction' | undefined
  /** The folder of the embedded PostgreSQL's programs; of those that npm brings, unless given. */
  postgresBin?: string | undefined
}

/** An open database. */
export interface Database extends Omit<Pools, 'end'> {
  /** Where the data is, for people: no password in it. */
  description: string
  /** Whether its schema is as new as this program. */
  isUpToDate: boolean
  /** Whose accounts it holds. */
  ownerOfAuth: OwnerOfAuth
  /** An id that no other database has, so that a server can tell which database it uses; null where there is none. */
  mark: string | null
  /** Whether this call made it. */
  isNew: boolean
  /** Whether an embedded database was lost, and its files are not there any more. */
  areFilesGone: () => boolean
  /** Gives the server that holds an embedded database another name, under which others find it. */
  renameHolder: (holder: string) => void
  /** Tells a server that is starting that this one is about to close the database. */
  announceClose: () => void
  /**
   * Ends the connections, and stops the embedded database where nobody else uses it.
   *
   * @param how `at once` breaks off what is under way; otherwise it has a few seconds to end.
   */
  close: (how?: 'at once') => Promise<void>
  /** Closes it at once, and removes an embedded database that this call made, if nobody else uses it. */
  discard: () => Promise<void>
}

export interface OpenOptions {
  /**
   * What becomes of the schema. `migrate` (the server, and `restore`) makes the database where there is none and
   * brings its schema up to date; `check` (every other command) changes nothing.
   */
  schema: 'migrate' | 'check'
  /** A server's name, which a second server is told: only one server may use the embedded database. */
  holder?: string
  /** Called before an embedded database is made where there is none, and may throw. */
  beforeCreation?: () => Promise<void>
  /** Called with sentences about the database and about what happened to it while it was open. */
  onEvent?: (message: string) => void
  /** Called with connections of the schema's owner before an existing schema changes. */
  beforeMigration?: (sql: Sql) => Promise<void>
  /** Called with the names of the migrations that were applied, where there were any. */
  onMigrated?: (names: readonly string[]) => void
}

/**
 * Opens the database: the embedded one under `dataDir`, started if need be, or the one at `databaseUrl`.
 *
 * With a `holder` (a server), the embedded database is kept running until `close`: it is started again
 * whenever it dies. Without one (a command), it is used beside whoever else does.
 *
 * @throws {OperatorError} where the embedded database cannot run, is not there and may not be made, or is held by
 *   another server; where the one at `databaseUrl` cannot be reached; and where its schema cannot be used.
 */
export async function openDatabase(location: DatabaseLocation, options: OpenOptions): Promise<Database> {
  const { dataDir, databaseUrl, databasePooler, postgresBin: programs } = location
  if (databaseUrl !== undefined) {
    const { address, description } = parseAddress(databaseUrl)
    const { end, ...pools } = createPools(address, databasePooler)
    try {
      const prepared = await prepare(pools, options)
      const discard = () => end('at once')
      const elsewhere = {
        isNew: false,
        areFilesGone: () => false,
        renameHolder: () => {},
        announceClose: () => {},
      }
      return { ...pools, ...prepared, ...elsewhere, description, close: end, discard }
    } catch (error) {
      await end()
      throw unreachable(error, description)
    }
  }

  const { onEvent = () => {} } = options
  if (options.schema === 'migrate') await upgradeFiles(dataDir, options.holder, programs, onEvent)
  const supervision = await supervise(dataDir, {
    ...options,
    programs,
    create: options.schema === 'migrate',
  })
  const { end, ...pools } = createPools(embedded(dataDir))
  const close = async (how?: 'at once') => {
    await end(how)
    await supervision.end()
  }
  const discard = async () => {
    await end('at once')
    await supervision.end('and remove')
  }
  try {
    if (options.schema === 'migrate') await followMinorVersion(pools.owner, onEvent)
    const prepared = await prepare(pools, options, () => freeDisk(dataDir))
    const description = `PostgreSQL in ${dataDir}`
    const { isNew, areFilesGone, rename: renameHolder, announceEnd: announceClose } = supervision
    const held = { isNew, areFilesGone, renameHolder, announceClose }
    return { ...pools, ...prepared, ...held, description, close, discard }
  } catch (error) {
    await close()
    throw error
  }
}

/** A database that is looked at and left as it is: no schema is asked for, and none is made. */
export interface OpenedAsItIs extends Pick<Database, 'description' | 'close'> {
  /** Runs work that reads, as the schema's owner: it may not write, and fails after a deadline. */
  read: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
  /** Whether the embedded database had to be started for it. */
  started: boolean
  /** Whether the embedded database runs though its files are not where they were. */
  isMisplaced: boolean
}

/**
 * Opens a database to look at it, whatever its schema is.
 *
 * @param patience Milliseconds that a database which runs and does not answer is waited for.
 * @throws {OperatorError} where it is not there, cannot be reached or does not answer.
 */
export async function openAsItIs(
  { dataDir, databaseUrl, databasePooler, postgresBin: programs }: DatabaseLocation,
  patience: number,
): Promise<OpenedAsItIs> {
  const reading =
    ({ server }: Pools): OpenedAsItIs['read'] =>
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
      throw unreachable(error, description)
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

/** Tells whether the schema is up to date, and whose accounts it holds. */
async function prepare(
  { owner, server, as }: Omit<Pools, 'end'>,
  { schema, onEvent, beforeMigration, onMigrated }: OpenOptions,
  free?: MigrateOptions['freeDisk'],
) {
  // With the deadline, which the work that follows does not have.
  await server`select 1`
  if (schema === 'check') {
    const isUpToDate = await checkSchema(owner)
    return { isUpToDate, ownerOfAuth: await ownerOfAuth(owner), mark: await readMark(owner) }
  }
  const { applied, edited } = await migrate(owner, {
    before: () => beforeMigration?.(owner) ?? Promise.resolve(),
    ...(onEvent && { onEvent }),
    ...(free && { freeDisk: free }),
  })
  if (applied.length > 0) onMigrated?.(applied)
  if (onEvent && edited.length > 0) {
    onEvent(`the project recorded other migrations than these, which were edited since: ${edited.join(', ')}`)
  }
  // Otherwise the first visitor would find it out.
  await as(visitor).unsafe('select 1')
  return { isUpToDate: true, ownerOfAuth: await ownerOfAuth(owner), mark: await readMark(owner) }
}
