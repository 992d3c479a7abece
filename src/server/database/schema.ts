import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseError } from './connection.ts'

import { OperatorError } from '../../settings/operator-error.ts'
import { oneLine } from '../finding.ts'
import {
  appliedMigrations,
  editedMigrations,
  prepareLedgers,
  recordedMigrations,
  recordMigration,
  refuseEdited,
  refuseNewer,
} from './ledgers.ts'
import {
  alone,
  isOvertaken,
  isReleased,
  migrations,
  nameOf,
  runsAlone,
  type Migration,
} from './migrations.ts'
import { ownerOfAuth } from './owner-of-auth.ts'
import { giveToOwner } from './owner.ts'
import { awaitHandovers } from './await-handovers.ts'
import { createRoles } from './roles.ts'
import { refuseWithoutRoom, roomFor } from './room.ts'
import type { Sql } from './sql.ts'

/** Any number that no other program's advisory lock on this database is likely to use. */
const migrationLock = 5_610_741

/** Milliseconds that a table's lock is waited for: meanwhile everybody waits who wants the table. */
const lockTimeout = 1_000
/** Milliseconds between two tries, in which others use the table. */
const pauses = { first: 1_000, longest: 8_000 }
/** Milliseconds between two looks at whether another server is done. */
const lookPause = 100

export interface MigrateOptions {
  /** Called before a schema that is there changes, once, while no other server changes it. */
  before?: () => Promise<void>
  /** Called with a sentence where others keep tables from being changed. */
  onEvent?: (message: string) => void
  /** Tells how many bytes are free for the database, where that can be seen from here. */
  freeDisk?: () => Promise<number>
  /** What is applied, in the order of the versions. */
  files?: readonly Migration[]
}

/**
 * Brings the schema up to date: applies the migrations of both ledgers that the database does not record yet, in
 * the order of their versions. Servers that start together apply them once. All up to one that runs alone are one transaction.
 * It waits for locks for a moment at a time and then begins again, so that whoever applies is not kept waiting
 * (docs/decisions/0041).
 *
 * @param sql Connections, at least two, of a user who owns the schema.
 * @returns The names of the migrations that it applied; and in a hosted project, of those that were edited after they were applied.
 * @throws {OperatorError} where roles or rights are missing and may not be given, where the schema is newer than
 *   this program, where a migration was edited since it was applied to a database of ours, where a schema `auth` is
 *   somebody else's, where the disk has no room for it, and where a migration fails.
 */
export async function migrate(
  sql: Sql,
  { before, onEvent, freeDisk, files = migrations }: MigrateOptions = {},
): Promise<{ applied: string[]; edited: string[] }> {
  let prepared: Promise<void> | undefined
  const prepare = (missing: readonly Migration[]) =>
    (prepared ??= (async () => {
      // A new database: also before the steps that follow the first one.
      if (missing.length === 0) return
      if (freeDisk) refuseWithoutRoom(await roomFor(sql, missing, freeDisk))
      await before?.()
    })())
  const onMails = () =>
    onEvent?.('the schema is changed once the mails that a server is handing over have ended, within 90 s')
  const applied: string[] = []
  return sayWhoMayNot(sql, async () => {
    for (;;) {
      const step = await untilUnlocked(
        () => sql.begin((transaction) => applyNext(sql, transaction, files, prepare, onMails)),
        onEvent,
      )
      if (step === undefined) {
        await wait(lookPause)
        continue
      }
      applied.push(...step.applied)
      if (step.isLast) return { applied, edited: step.edited }
    }
  })
}

/** Says, where a right is missing, what gives it. */
export async function sayWhoMayNot<Result>(sql: Sql, work: () => Promise<Result>): Promise<Result> {
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

/** Tries again, after growing pauses, what a lock of somebody else ended. */
export async function untilUnlocked<Result>(
  work: () => Promise<Result>,
  onEvent: MigrateOptions['onEvent'],
): Promise<Result> {
  for (let pause = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
    try {
      return await work()
    } catch (error) {
      // A lock that did not come in time, and a circle of those who wait.
      if (!isDatabaseError(error) || !['55P03', '40P01'].includes(error.code)) throw error
      if (pause === pauses.first)
        onEvent?.(
          'the schema is changed as soon as others let go of its tables: look in pg_stat_activity for transactions that are open for long, and end them',
        )
    }
    await wait(pause)
  }
}

/**
 * Gives an empty database the schema of another one: the migrations that it records, in the texts that it applied. So its rows
 * fit, also where a text was edited since. The other database is only read.
 *
 * @param from A connection to that database. A server of this program made it.
 * @param to Connections to the empty one, of a user who may make roles.
 * @throws {OperatorError} where `migrate` would refuse that database.
 */
export async function repeatMigrations(from: Sql, to: Sql): Promise<void> {
  refuseNewer(await appliedMigrations(from))
  refuseEdited(await editedMigrations(from))
  await migrate(to, { files: await recordedMigrations(from) })
}

/**
 * Applies what comes next: all that is missing up to a migration that runs alone, or that one.
 *
 * @returns Nothing where another server changes the schema. It is not waited for in a transaction: an index that it builds waits
 *   for all who wait with a snapshot.
 */
async function applyNext(
  sql: Sql,
  transaction: Sql,
  files: readonly Migration[],
  prepare: (missing: readonly Migration[]) => Promise<void>,
  onMails: () => void,
) {
  if (!(await takeMigrationLock(transaction))) return undefined
  const { found, edited, missing } = await missingMigrations(transaction, files)
  // While nothing that others read is locked.
  if (missing.length > 0) await prepare(found.shared.size > 0 ? missing : [])
  const first = missing.findIndex(runsAlone)
  const next = missing.slice(0, first === -1 ? undefined : Math.max(first, 1))
  if (first === 0) {
    // Ends the last statement's snapshot, for which an index that is built would wait.
    await transaction.unsafe('select')
    for (const migration of next) await runAlone(sql, migration)
  } else {
    await applyTogether(transaction, next, found.shared, onMails)
  }
  for (const migration of next) await recordMigration(transaction, migration)
  return { applied: next.map(nameOf), edited: edited.map(nameOf), isLast: next.length === missing.length }
}

/** Keeps other servers from changing the schema until the transaction ends. Tells whether none does already. */
export async function takeMigrationLock(transaction: Sql): Promise<boolean> {
  const [lock] = await transaction<[{ is_taken: boolean }]>`
    select pg_try_advisory_xact_lock(${migrationLock}) as is_taken`
  return lock.is_taken
}

/**
 * The migrations that a database records, those that were edited since, and those that it lacks.
 *
 * @throws {OperatorError} where it is newer than this program, or an edited migration is not a hosted project's.
 */
export async function missingMigrations(sql: Sql, files: readonly Migration[] = migrations) {
  const found = await appliedMigrations(sql)
  refuseNewer(found, files)
  const edited = await editedMigrations(sql, files)
  // A project's owner may have mended a released one by hand.
  const isProjects = (await ownerOfAuth(sql)) === 'supabase'
  refuseEdited(isProjects ? edited.filter((each) => !isReleased(each)) : edited)
  return { found, edited, missing: files.filter(({ ledger, version }) => !found[ledger].has(version)) }
}

/**
 * Applies migrations of which none runs alone. They are not recorded.
 *
 * @param transaction A transaction that has the lock of the migrations.
 * @param recorded The shared migrations that the database records.
 * @param onMails Called while mails that a server is handing over are waited for; without it they are not.
 */
export async function applyTogether(
  transaction: Sql,
  next: readonly Migration[],
  recorded: ReadonlySet<string>,
  onMails?: () => void,
): Promise<void> {
  await transaction.unsafe(`set local lock_timeout = ${lockTimeout}`)
  if (onMails && next.length > 0) await awaitHandovers(transaction, onMails)
  await createRoles(transaction)
  await prepareLedgers(transaction)
  await transaction`select set_config('unplugged.auth', ${await ownerOfAuth(transaction)}, true)`
  for (const migration of next.filter((each) => !isOvertaken(each, recorded)))
    await transaction.unsafe(migration.sql).catch((error: unknown) => {
      throw failureOf(migration, error)
    })
  // After all of them: what runs alone makes indexes and constraints, which are their table's owner's.
  await giveToOwner(transaction)
}

/** What says which migration failed. Locks, rights and ends of the database are not its fault. */
function failureOf(migration: Migration, cause: unknown) {
  if (!isDatabaseError(cause) || /^(55P03|40P01|42501|57|08)/.test(cause.code)) return cause
  // Of what depends on a table. Other details may quote rows.
  const detail = cause.code === '2BP01' ? `: ${cause.detail ?? ''}` : ''
  return new OperatorError(
    `The update fails at ${nameOf(migration)} (${oneLine(cause.message + detail)}), and was undone: run the former version until that is mended (docs/operate.md#update).`,
    { cause },
  )
}

/** Runs a statement outside of the transaction that has the lock. It can be repeated, and what it left unfinished goes first. */
async function runAlone(sql: Sql, { sql: text }: Migration) {
  const { index, schema } = alone.exec(text)?.groups ?? {}
  const remains = await sql`
    select from pg_index where indexrelid = to_regclass(${`${schema}.${index}`}) and not indisvalid`
  if (remains.count > 0) await sql.unsafe(`drop index concurrently ${schema}.${index}`)
  await sql.unsafe(text)
}
