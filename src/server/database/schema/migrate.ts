import { setTimeout as wait } from 'node:timers/promises'
import { advisoryLocks } from '../connection/advisory-locks.ts'
import { isDatabaseError } from '../connection/connection.ts'

import { OperatorError } from '../../../settings/operator-error.ts'
import { oneLine } from '../../finding.ts'
import { replaceFunctions, scriptOfDropped, scriptOfFunctions } from './declared-functions.ts'
import {
  appliedMigrations,
  editedMigrations,
  prepareLedgers,
  recordedFunctions,
  recordFunctions,
  recordMigration,
  refuseEdited,
  refuseNewer,
  type Applied,
} from './ledgers.ts'
import {
  aloneStatement,
  isGenerated,
  isSuperseded,
  isReleased,
  migrations,
  nameOf,
  runsAlone,
  type Migration,
} from './migration-files.ts'
import { ownerOfAuth } from './owner-of-auth.ts'
import { giveToOwner } from './owner.ts'
import { awaitHandovers } from './await-handovers.ts'
import { createRoles } from './roles.ts'
import { refuseFullDisk, diskSpaceFor } from './disk-space.ts'
import type { Sql } from '../connection/sql.ts'

/** Milliseconds to wait for a table's lock. During this wait, everybody else who uses the table waits too. */
const lockTimeout = 1_000
/** The back-off between two tries for a table's lock, in milliseconds. During it, others can use the table. */
const backOff = { first: 1_000, longest: 8_000 }
/** Milliseconds between two checks whether another server still changes the schema. */
const pollInterval = 100

/** The options of a migration. */
export interface MigrateOptions {
  /** Called once before an existing schema changes, while no other server changes it. */
  before?: () => Promise<void>
  /** Called with a message if the change has to wait for others' locks or emails. */
  onEvent?: (message: string) => void
  /** Reads the free bytes of the database's disk; undefined if the database is on another machine. */
  freeDisk?: () => Promise<number>
  /** The migrations to apply, in the order of their versions; default all, and then the declared functions. */
  files?: readonly Migration[]
}

/**
 * Brings the schema up to date: applies the migrations of both ledgers that the database does not record, in the order of their
 * versions, and then the declared functions, if they changed. Servers that start together apply them once. Migrations share a
 * transaction, up to the next one that must run outside of transactions (`runsAlone`). They wait only briefly for locks and are
 * then retried, so that applicants do not wait long (docs/decisions/0041).
 *
 * @param sql Connections, at least two, of a user who owns the schema.
 * @returns The names of the migrations that this call applied. In a hosted project also the names of released migrations that
 *   were edited after the project applied them.
 * @throws {OperatorError} if roles or rights are missing and cannot be granted; if the schema is newer than this program; if a
 *   migration was edited since it was applied (in a hosted project only an unreleased one); if the schema `auth` belongs to
 *   another program; if the disk is too full; and if a migration fails.
 */
export async function migrate(
  sql: Sql,
  { before, onEvent, freeDisk, files = migrations }: MigrateOptions = {},
): Promise<{ applied: string[]; edited: string[] }> {
  let prepared: Promise<void> | undefined
  const prepare = (missing: readonly Migration[] | undefined) =>
    (prepared ??= (async () => {
      // A new database has no rows to back up, not even after its first migrations.
      if (missing === undefined) return
      if (freeDisk) refuseFullDisk(await diskSpaceFor(sql, missing, freeDisk))
      await before?.()
    })())
  const onPendingEmails = () =>
    onEvent?.('waiting up to 90 s for emails that are being sent, before the schema changes')
  const applied: string[] = []
  return explainMissingRights(sql, async () => {
    const edited = await acceptedEdits(sql, files)
    for (;;) {
      const step = await retryWhileLocked(
        () => sql.begin((transaction) => applyNext(sql, transaction, files, prepare, onPendingEmails)),
        onEvent,
      )
      if (step === undefined) {
        await wait(pollInterval)
        continue
      }
      applied.push(...step.applied)
      if (step.isLast) return { applied, edited: edited.map(nameOf) }
    }
  })
}

/** Turns a missing right into a sentence with the SQL that grants it. */
export async function explainMissingRights<Result>(sql: Sql, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (!isDatabaseError(cause) || cause.code !== '42501') throw cause
    const [row] = await sql<{ user: string; database: string }[]>`
      select quote_ident(current_user) as user, quote_ident(current_database()) as database`
    throw new OperatorError(
      `The user of DATABASE_URL may not set up the schema (${cause.message}); an administrator has to run once: grant create on database ${row?.database} to ${row?.user}; grant create on schema public to ${row?.user};`,
      { cause },
    )
  }
}

/** Retries, with a growing back-off, work that failed because of others' locks. */
export async function retryWhileLocked<Result>(
  work: () => Promise<Result>,
  onEvent: MigrateOptions['onEvent'],
): Promise<Result> {
  for (let pause = backOff.first; ; pause = Math.min(2 * pause, backOff.longest)) {
    try {
      return await work()
    } catch (error) {
      // A lock timeout or a deadlock.
      if (!isDatabaseError(error) || !['55P03', '40P01'].includes(error.code)) throw error
      if (pause === backOff.first)
        onEvent?.(
          'waiting for other transactions that lock the tables: look in pg_stat_activity for transactions that are open for long, and end them',
        )
    }
    await wait(pause)
  }
}

/**
 * Applies the next step: all missing migrations before the first that runs alone, or only that one if it is next.
 *
 * @returns Undefined if another server is changing the schema. Waiting for it in a transaction would deadlock with a
 *   concurrent index build, which waits for all snapshots.
 */
async function applyNext(
  sql: Sql,
  transaction: Sql,
  files: readonly Migration[],
  prepare: (missing: readonly Migration[] | undefined) => Promise<void>,
  onPendingEmails: () => void,
) {
  if (!(await takeMigrationLock(transaction))) return undefined
  const { found, missing } = await missingMigrations(transaction, files)
  const firstAlone = missing.findIndex(runsAlone)
  const next = missing.slice(0, firstAlone === -1 ? undefined : Math.max(firstAlone, 1))
  const isLast = firstAlone === -1
  const functions = isLast && files === migrations ? await changedFunctions(transaction) : undefined
  const isChanging = missing.length > 0 || functions !== undefined
  // This transaction has no lock yet on anything that others read.
  if (isChanging) await prepare(found.shared.size > 0 ? missing : undefined)
  if (firstAlone === 0) {
    // Drops the last statement's snapshot, which a concurrent index build would wait for.
    await transaction.unsafe('select')
    for (const migration of next) await runAlone(sql, migration)
  } else {
    await applyTogether(transaction, next, found.shared, {
      functions,
      onPendingEmails: isChanging ? onPendingEmails : undefined,
    })
  }
  for (const migration of next) await recordMigration(transaction, migration)
  return { applied: next.map(nameOf), isLast }
}

/** Locks out other servers' schema changes until the transaction ends. Returns false if another server has the lock. */
export async function takeMigrationLock(transaction: Sql): Promise<boolean> {
  const [lock] = await transaction<[{ is_taken: boolean }]>`
    select pg_try_advisory_xact_lock(${advisoryLocks.migration}) as is_taken`
  return lock.is_taken
}

/** The SQL that applies the declared functions, and that drops former ones. */
interface ChangedFunctions {
  script: string
  dropped: string
}

/**
 * The migrations that a database records, and those of this program that it lacks.
 *
 * @throws {OperatorError} if a newer version of this program has migrated the database.
 */
export async function missingMigrations(
  sql: Sql,
  files: readonly Migration[] = migrations,
): Promise<{ found: Applied; missing: Migration[] }> {
  const found = await appliedMigrations(sql)
  refuseNewer(found, files)
  return { found, missing: files.filter(({ ledger, version }) => !found[ledger].has(version)) }
}

/**
 * The migrations of which a hosted project applied another text: its owner may have repaired a released one by hand.
 *
 * @throws {OperatorError} if another migration was edited, or a newer version of this program has migrated the database.
 */
export async function acceptedEdits(
  sql: Sql,
  files: readonly Migration[] = migrations,
): Promise<Migration[]> {
  refuseNewer(await appliedMigrations(sql), files)
  const edited = await editedMigrations(sql, files)
  refuseEdited((await isHostedProject(sql)) ? edited.filter((each) => !isReleased(each)) : edited)
  return edited
}

/** Compares the declared functions with those that a database applied last. Returns undefined if they are the same. */
export async function changedFunctions(sql: Sql): Promise<ChangedFunctions | undefined> {
  const script = scriptOfFunctions(await isHostedProject(sql))
  const former = await recordedFunctions(sql)
  return former === script ? undefined : { script, dropped: scriptOfDropped(former ?? '', script) }
}

const isHostedProject = async (sql: Sql) => (await ownerOfAuth(sql)) === 'supabase'

/** What {@link applyTogether} also does. */
interface TogetherOptions {
  /** The declared functions, which are applied and recorded after the migrations. */
  functions?: ChangedFunctions | undefined
  /** Called before a wait for emails that a server is handing over. If omitted, nothing waits for emails. */
  onPendingEmails?: (() => void) | undefined
}

/**
 * Applies migrations that can share a transaction, without recording them, and then the declared functions.
 *
 * @param transaction A transaction that has the migrations' lock.
 * @param next The migrations, in the order of their versions.
 * @param recorded The versions of the shared migrations that the database records.
 */
export async function applyTogether(
  transaction: Sql,
  next: readonly Migration[],
  recorded: ReadonlySet<string>,
  { functions, onPendingEmails }: TogetherOptions = {},
): Promise<void> {
  await transaction.unsafe(`set local lock_timeout = ${lockTimeout}`)
  if (onPendingEmails) await awaitHandovers(transaction, onPendingEmails)
  await createRoles(transaction)
  await prepareLedgers(transaction)
  await transaction`select set_config('unplugged.auth', ${await ownerOfAuth(transaction)}, true)`
  const isUpdate = recorded.size > 0
  for (const migration of next.filter((each) => !isSuperseded(each, recorded)))
    // Databases of `main` applied earlier files of functions, too.
    await transaction
      .unsafe(isGenerated(migration) ? replaceFunctions(migration.sql) : migration.sql)
      .catch((error: unknown) => {
        throw migrationFailure(nameOf(migration), error, isUpdate)
      })
  if (functions !== undefined) {
    await transaction.unsafe(`${functions.script}\n\n${functions.dropped}`).catch((error: unknown) => {
      throw migrationFailure('the functions', error, isUpdate)
    })
    await recordFunctions(transaction, functions.script)
  }
  // Migrations that run alone need no such change: their indexes and constraints belong to the table's owner.
  await giveToOwner(transaction)
}

/**
 * The error that names the failed part. Failures because of locks, rights or a lost database are not its fault.
 *
 * @param name The migration's name, or the functions.
 * @param isUpdate Whether a former version has used the database.
 */
function migrationFailure(name: string, cause: unknown, isUpdate: boolean) {
  if (!isDatabaseError(cause) || /^(55P03|40P01|42501|57|08)/.test(cause.code)) return cause
  // 2BP01: other objects depend on a table. The details of other errors may quote rows.
  const detail = cause.code === '2BP01' ? `: ${cause.detail ?? ''}` : ''
  const reason = oneLine(cause.message + detail)
  return new OperatorError(
    isUpdate
      ? `The update fails at ${name} (${reason}), and was undone: run the former version until this is fixed (docs/operate.md#update).`
      : `The schema cannot be made: ${name} fails (${reason}), and was undone.`,
    { cause },
  )
}

/** Runs a migration outside the transaction that has the lock. A retry is safe: an unfinished index is dropped first. */
async function runAlone(sql: Sql, { sql: text }: Migration) {
  const { index, schema } = aloneStatement.exec(text)?.groups ?? {}
  const unfinished = await sql`
    select from pg_index where indexrelid = to_regclass(${`${schema}.${index}`}) and not indisvalid`
  if (unfinished.count > 0) await sql.unsafe(`drop index concurrently ${schema}.${index}`)
  await sql.unsafe(text)
}
