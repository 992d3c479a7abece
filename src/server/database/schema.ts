import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseError } from './connection.ts'

import { OperatorError } from '../../settings/operator-error.ts'
import { landed } from './landed.ts'
import { identifier, type Sql } from './sql.ts'

/**
 * The records of applied migrations. `shared` is the Supabase CLI's own record, so that it and our server can continue each
 * other's work. `server` is for the migrations that only our own server applies.
 */
type Ledger = 'shared' | 'server'

export interface Migration {
  ledger: Ledger
  /** A time. It puts the migrations of both ledgers into one order. */
  version: string
  name: string
  sql: string
}

const tables: Record<Ledger, string> = {
  shared: 'supabase_migrations.schema_migrations',
  server: 'private.server_migrations',
}

// The build writes the files into the program, and reads these options without running them.
const sharedFiles = import.meta.glob<string>('/supabase/migrations/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
})
const serverFiles = import.meta.glob<string>('./migrations/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
})
export const migrations: readonly Migration[] = [
  ...read('shared', sharedFiles),
  ...read('server', serverFiles),
].toSorted((a, b) => (a.version < b.version ? -1 : 1))

function read(ledger: Ledger, files: Record<string, string>): Migration[] {
  return Object.entries(files).map(([path, sql]) => {
    const [, version = '', name = ''] = /(\d+)_([^/]*)\.sql$/.exec(path) ?? []
    return { ledger, version, name, sql }
  })
}

/** The roles that the schema grants to. A hosted project has them; a plain PostgreSQL gets them here. */
const roles = ['anon', 'authenticated', 'service_role']
/** The roles that our connections take. */
const takenRoles = ['anon', 'authenticated']

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
 *   this program, where a migration was edited since it was applied to a database of ours, and where a schema `auth` is
 *   somebody else's.
 */
export async function migrate(
  sql: Sql,
  { before, onEvent, files = migrations }: MigrateOptions = {},
): Promise<{ applied: string[]; edited: string[] }> {
  let prepared: Promise<void> | undefined
  const prepare = () => (prepared ??= before?.() ?? Promise.resolve())
  const applied: string[] = []
  try {
    for (;;) {
      const step = await untilUnlocked(
        () => sql.begin((transaction) => applyNext(sql, transaction, files, prepare)),
        onEvent,
      )
      if (step === undefined) {
        await wait(lookPause)
        continue
      }
      applied.push(...step.applied)
      if (step.isLast) return { applied, edited: step.edited }
    }
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
async function untilUnlocked<Result>(
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
 * Checks that this program can work with the schema as it is, and changes nothing. An older schema passes.
 *
 * @returns Whether it is up to date.
 * @throws {OperatorError} where it is newer than this program, or not there.
 */
export async function checkSchema(sql: Sql): Promise<boolean> {
  const applied = await appliedMigrations(sql)
  if (applied.shared.size === 0)
    throw new OperatorError(`This database holds no applications yet: ${toUpdate}.`)
  refuseNewer(applied)
  return migrations.every(({ ledger, version }) => applied[ledger].has(version))
}

/** A database's schema, compared with this program's. */
export interface SchemaState {
  /** The newest migration that the database records; nothing where it has none of ours. */
  newest: string | undefined
  /** Migrations of this program that it lacks. In a hosted project without a server, only those that `supabase db push` applies. */
  missing: string[]
  /** Whether a newer version of this program has changed it. */
  isNewer: boolean
  /** Migrations that were edited after they were applied. */
  edited: string[]
  isProjects: boolean
}

/** Compares the schema with this program's, and changes nothing. */
export async function schemaState(sql: Sql): Promise<SchemaState> {
  const applied = await appliedMigrations(sql)
  const isProjects = (await ownerOfAuth(sql)) === 'supabase'
  const isPushed = isProjects && applied.server.size === 0
  const wanted = migrations.filter(({ ledger }) => ledger === 'shared' || !isPushed)
  const ours = wanted.filter(({ ledger, version }) => applied[ledger].has(version))
  const last = isNewer(applied) ? { version: await schemaVersion(sql), name: '' } : ours.at(-1)
  return {
    newest: last && (last.name === '' ? last.version : nameOf(last)),
    missing: wanted.filter((each) => !ours.includes(each)).map(nameOf),
    isNewer: isNewer(applied),
    edited: await editedMigrations(sql),
    isProjects,
  }
}

/** The version of the newest migration that the database records, of either ledger. */
export async function schemaVersion(sql: Sql): Promise<string> {
  const { shared, server } = await appliedMigrations(sql)
  return [...shared, ...server].reduce((newest, version) => (version > newest ? version : newest), '')
}

/** The version that `migrate` brings a schema to. */
export const newestVersion = migrations.at(-1)?.version ?? ''

/** What an operator does where a newer version of this program has changed the schema. */
export const toGoBack =
  'run that version or a later one, or go back to the backup of before the update (docs/operate.md#go-back)'

/** What an operator does where the schema is missing, or too old for a command. */
export const toUpdate = 'start the server once, which brings its schema up to date'

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
  prepare: () => Promise<void>,
) {
  const [lock] = await transaction<[{ is_taken: boolean }]>`
    select pg_try_advisory_xact_lock(${migrationLock}) as is_taken`
  if (!lock.is_taken) return undefined
  const found = await appliedMigrations(transaction)
  refuseNewer(found, files)
  const edited = await editedMigrations(transaction)
  if ((await ownerOfAuth(transaction)) !== 'supabase') refuseEdited(edited)
  const missing = files.filter(({ ledger, version }) => !found[ledger].has(version))
  // While nothing that others read is locked.
  if (found.shared.size > 0 && missing.length > 0) await prepare()
  const first = missing.findIndex(runsAlone)
  const next = missing.slice(0, first === -1 ? undefined : Math.max(first, 1))
  if (first === 0) {
    // Ends the last statement's snapshot, for which an index that is built would wait.
    await transaction.unsafe('select')
    for (const migration of next) await runAlone(sql, migration)
  } else {
    await transaction.unsafe(`set local lock_timeout = ${lockTimeout}`)
    await prepareLedgers(transaction)
    await transaction`select set_config('unplugged.auth', ${await ownerOfAuth(transaction)}, true)`
    for (const migration of next) await transaction.unsafe(migration.sql)
  }
  for (const { ledger, version, name, sql: text } of next) {
    await transaction`
      insert into ${identifier(tables[ledger])} (version, name, statements)
      values (${version}, ${name}, array[${text}]::text[])`
  }
  return { applied: next.map(nameOf), edited, isLast: next.length === missing.length }
}

/** An index that is built while others write, with its name and schema; or a constraint that is checked meanwhile. */
const alone =
  /^(?:create (?:unique )?index concurrently if not exists (?<index>\w+)\s+on (?<schema>\w+)\.|alter table \S+\s+validate constraint )/m

const runsAlone = ({ sql }: Migration) => alone.test(sql)

/** Runs a statement outside of the transaction that has the lock. It can be repeated, and what it left unfinished goes first. */
async function runAlone(sql: Sql, { sql: text }: Migration) {
  const { index, schema } = alone.exec(text)?.groups ?? {}
  const remains = await sql`
    select from pg_index where indexrelid = to_regclass(${`${schema}.${index}`}) and not indisvalid`
  if (remains.count > 0) await sql.unsafe(`drop index concurrently ${schema}.${index}`)
  await sql.unsafe(text)
}

async function prepareLedgers(transaction: Sql) {
  await createRoles(transaction)
  await transaction.unsafe(`
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
    alter table supabase_migrations.schema_migrations add column if not exists statements text[];
    alter table supabase_migrations.schema_migrations add column if not exists name text;

    create schema if not exists private;
    create table if not exists private.server_migrations (
      version text not null primary key, statements text[], name text
    );
    alter table private.server_migrations enable row level security;
  `)
}

const nameOf = ({ version, name }: Pick<Migration, 'version' | 'name'>) => `${version}_${name}`

function refuseEdited(edited: readonly string[]) {
  if (edited.length === 0) return
  throw new OperatorError(
    `The migration "${edited[0]}" was edited since this database applied it: put it back as it was, and write a new one.`,
  )
}

/** Migrations whose recorded text is another than theirs. */
async function editedMigrations(sql: Sql): Promise<string[]> {
  const recorded = await recordedMigrations(sql)
  return migrations.filter((migration) => isEdited(migration, recorded)).map(nameOf)
}

function isEdited({ ledger, version, sql: written }: Migration, recorded: readonly Migration[]) {
  const text = recorded.find((each) => each.ledger === ledger && each.version === version)?.sql
  if (text === undefined || essenceOf(text) === essenceOf(written)) return false
  return landed[version]?.includes(digestOf(text)) !== true
}

/** The migrations that a database records, in their order. One that it recorded without a text has this program's. */
async function recordedMigrations(sql: Sql): Promise<Migration[]> {
  const recorded: Migration[] = []
  for (const ledger of ['shared', 'server'] as const) {
    const [table] = await sql<
      { there: boolean }[]
    >`select to_regclass(${tables[ledger]}) is not null as there`
    if (!table?.there) continue
    const rows = await sql<{ version: string; name: string | null; text: string | null }[]>`
      select version, name, nullif(array_to_string(statements, E';\n'), '') as text from ${identifier(tables[ledger])}`
    for (const { version, name, text } of rows) {
      const ours = migrations.find((each) => each.ledger === ledger && each.version === version)
      recorded.push({ ledger, version, name: name ?? ours?.name ?? '', sql: text ?? ours?.sql ?? '' })
    }
  }
  return recorded.toSorted((a, b) => (a.version < b.version ? -1 : 1))
}

/** A text without comments, blanks and the ends of its statements, which the Supabase CLI records one by one. */
const essenceOf = (sql: string) => sql.replaceAll(/--.*|\/\*[^]*?\*\//g, '').replaceAll(/[\s;]/g, '')
const digestOf = (sql: string) => createHash('sha256').update(essenceOf(sql)).digest('hex').slice(0, 16)

type Applied = Record<Ledger, ReadonlySet<string>>

async function appliedMigrations(sql: Sql): Promise<Applied> {
  const versions = async (ledger: Ledger) => {
    const [row] = await sql<{ there: boolean }[]>`select to_regclass(${tables[ledger]}) is not null as there`
    if (!row?.there) return new Set<string>()
    const rows = await sql<{ version: string }[]>`select version from ${identifier(tables[ledger])}`
    return new Set(rows.map(({ version }) => version))
  }
  return { shared: await versions('shared'), server: await versions('server') }
}

/** A project may have older migrations of its own. One that is newer than all of ours is from a newer version of this program. */
function isNewer(applied: Applied, files = migrations) {
  return (['shared', 'server'] as const).some((ledger) => {
    const known = files.filter((migration) => migration.ledger === ledger).at(-1)?.version ?? ''
    return [...applied[ledger]].some((version) => version > known)
  })
}

function refuseNewer(applied: Applied, files = migrations) {
  if (!isNewer(applied, files)) return
  throw new OperatorError(
    `The database was brought up to date by a newer version of this program than this one: ${toGoBack}.`,
  )
}

/** Whose the schema `auth` is: of our own sign-in, of a hosted project's, or there is none yet. */
export type OwnerOfAuth = 'us' | 'supabase' | 'nobody'

/**
 * Tells whose the schema `auth` is. The server's migrations read it as the setting `unplugged.auth`, and so know a hosted
 * project's database.
 *
 * @throws {OperatorError} where it is somebody else's.
 */
export async function ownerOfAuth(sql: Sql): Promise<OwnerOfAuth> {
  // The two tables that Supabase's authentication server makes first; and one that only our sign-in has.
  const [row] = await sql<{ there: boolean; supabase: boolean; ours: boolean }[]>`
    select to_regnamespace('auth') is not null as there,
      to_regclass('auth.users') is not null and to_regclass('auth.schema_migrations') is not null as supabase,
      to_regclass('auth.users') is not null and to_regclass('private.signing_keys') is not null as ours`
  if (row?.supabase) return 'supabase'
  if (row?.ours) return 'us'
  if (!row?.there) return 'nobody'
  throw new OperatorError(
    'The database has a schema "auth" that is not Supabase\'s: give this server a database of its own.',
  )
}

async function createRoles(transaction: Sql) {
  const existing = await transaction<{ rolname: string }[]>`
    select rolname from pg_roles where rolname = any(${roles})`
  const missing = roles.filter((role) => !existing.some(({ rolname }) => rolname === role))
  const create = missing.map((role) => `create role ${role} nologin noinherit;`)
  try {
    await transaction.begin((part) => part.unsafe(create.join(' ')))
    for (const role of takenRoles) {
      if (await mayBecome(transaction, role)) continue
      await transaction.begin((part) => part.unsafe(`grant ${role} to current_user`))
    }
  } catch (cause) {
    if (!(isDatabaseError(cause) && cause.code === '42501')) throw cause
    const [row] = await transaction<{ user: string }[]>`select quote_ident(current_user) as user`
    throw new OperatorError(
      `The user of DATABASE_URL may not set up the roles of the data interface; an administrator has to run once: ${[...create, `grant ${takenRoles.join(', ')} to ${row?.user};`].join(' ')}`,
      { cause },
    )
  }
}

async function mayBecome(transaction: Sql, role: string) {
  try {
    await transaction.begin((part) => part.unsafe(`set local role ${role}; reset role`))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42501') return false
    throw error
  }
}
