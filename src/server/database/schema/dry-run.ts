import { setTimeout as wait } from 'node:timers/promises'

import { OperatorError } from '../../../settings/operator-error.ts'
import { isDatabaseError } from '../connection/connection.ts'
import { nameOf, hasOwnFile } from './migration-files.ts'
import { refuseFullDisk, diskSpaceFor, type DiskSpace } from './disk-space.ts'
import {
  acceptedEdits,
  applyTogether,
  changedFunctions,
  missingMigrations,
  explainMissingRights,
  takeMigrationLock,
  retryWhileLocked,
  type MigrateOptions,
} from './migrate.ts'
import { identifier, type Sql } from '../connection/sql.ts'

/** Milliseconds that other transactions may wait for a dry run. The next check after this time ends the dry run. */
const maxBlockingTime = 800
/** Milliseconds between two checks whether others wait. */
const pollInterval = 100

/** The result of a dry run. */
export interface DryRun {
  /** The migrations that were applied and undone. */
  applied: string[]
  /** The migrations that were not tried: they run outside a transaction, or need an index that such a migration builds. */
  untried: string[]
  /** Milliseconds that the migrations took. During the update, nobody can apply for about that long. */
  milliseconds: number
  disk: DiskSpace
  /** The tables whose number of rows would change. Null before or after means that the table does not exist. */
  tables: { name: string; before: number | null; after: number | null }[]
}

/** Thrown to roll a transaction back, with its result. */
class RolledBack extends Error {
  readonly result: Pick<DryRun, 'milliseconds' | 'tables'>

  constructor(result: Pick<DryRun, 'milliseconds' | 'tables'>) {
    super()
    this.result = result
  }
}

/**
 * Applies the missing migrations in a transaction, counts the rows and rolls back. It ends early if others wait too long for it.
 *
 * @param sql Connections, at least two, of a user who owns the schema.
 * @throws {OperatorError} with the reason if the update would fail, or others would wait too long for the dry run.
 */
export async function dryRun(
  sql: Sql,
  { files, freeDisk, onEvent }: Pick<MigrateOptions, 'files' | 'freeDisk' | 'onEvent'> = {},
): Promise<DryRun> {
  await acceptedEdits(sql, files)
  const { found, missing } = await missingMigrations(sql, files)
  const functions = files === undefined ? await changedFunctions(sql) : undefined
  const disk = await diskSpaceFor(sql, missing, freeDisk)
  refuseFullDisk(disk)
  const together = missing.filter((migration) => !hasOwnFile(migration))
  const names = { applied: together.map(nameOf), untried: missing.filter(hasOwnFile).map(nameOf) }
  if (together.length === 0 && functions === undefined) return { ...names, milliseconds: 0, disk, tables: [] }
  const before = await countRows(sql)
  const attempt = () =>
    sql.begin(async (transaction): Promise<never> => {
      if (!(await takeMigrationLock(transaction)))
        throw new OperatorError('A server changes the schema at this moment: run this again after it.')
      const stopWatching = await cancelIfOthersWait(sql, transaction)
      try {
        const began = performance.now()
        await applyTogether(transaction, together, found.shared, { functions })
        const milliseconds = performance.now() - began
        throw new RolledBack({ milliseconds, tables: changedTables(before, await countRows(transaction)) })
      } finally {
        await stopWatching()
      }
    })
  try {
    return await explainMissingRights(sql, () => retryWhileLocked(attempt, onEvent))
  } catch (error) {
    if (error instanceof RolledBack) return { ...names, ...error.result, disk }
    throw (isDatabaseError(error) && error.code === '57014' && blockingError(error)) || error
  }
}

const blockingError = (cause: Error) =>
  new OperatorError(
    'The dry run was ended since others waited for it, and nothing was changed: run it again at a quiet hour, or while no server runs.',
    { cause },
  )

/**
 * Watches a transaction, and cancels its statement once others have waited for it too long. Returns a function that stops
 * watching.
 */
async function cancelIfOthersWait(sql: Sql, transaction: Sql): Promise<() => Promise<void>> {
  const [{ pid }] = await transaction<[{ pid: number }]>`select pg_backend_pid() as pid`
  let isEnding = false
  const watch = async () => {
    while (!isEnding) {
      const { count } = await sql`
        select pg_cancel_backend(${pid}) from pg_locks
        where not granted and waitstart < clock_timestamp() - ${maxBlockingTime} * interval '1 ms'
          and ${pid} = any (pg_blocking_pids(pid))
        limit 1`
      if (count > 0) return
      await wait(pollInterval)
    }
  }
  const watching = watch()
  // Prevents an unhandled rejection: if watching fails, the returned function throws the error.
  watching.catch(() => {})
  return async () => {
    isEnding = true
    await watching
  }
}

/** The number of rows of each of our tables that this user may read, except our record of migrations. */
async function countRows(sql: Sql): Promise<Map<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select nspname || '.' || relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'r' and (nspname in ('private', 'auth') or pg_class.oid = 'public.retreat_applications'::regclass)
      and relname <> 'server_migrations' and has_table_privilege(pg_class.oid, 'select')
    order by 1`
  const counts = new Map<string, number>()
  for (const { name } of tables) {
    const [row] = await sql<[{ count: number }]>`select count(*)::float8 as count from ${identifier(name)}`
    counts.set(name, row.count)
  }
  return counts
}

function changedTables(before: Map<string, number>, after: Map<string, number>): DryRun['tables'] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .toSorted()
    .map((name) => ({ name, before: before.get(name) ?? null, after: after.get(name) ?? null }))
    .filter((table) => table.before !== table.after)
}
