import { OperatorError } from '../../../settings/operator-error.ts'
import { isContained, mergedInto, statementsSince } from './earlier-texts.ts'
import { isEdited, isReleased, migrations, nameOf, type Ledger, type Migration } from './migrations.ts'
import { identifier, type Sql } from '../connection/sql.ts'

/** The table of each ledger. A ledger records which migrations were applied. */
const tables: Record<Ledger, string> = {
  shared: 'supabase_migrations.schema_migrations',
  server: 'private.server_migrations',
}

/** The version under which our own server records the declared functions, which it applies again whenever they change. */
const functionsVersion = 'functions'

/** The versions of the migrations that a database records, by ledger. */
export type Applied = Record<Ledger, ReadonlySet<string>>

/** The operator's remedy if a newer version of this program has changed the schema. */
export const remedyForNewer =
  'run that version or a later one, or go back to the backup of before the update (docs/operate.md#go-back)'

/** Creates the ledgers if they are missing. */
export async function prepareLedgers(transaction: Sql): Promise<void> {
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

async function isPresent(sql: Sql, ledger: Ledger): Promise<boolean> {
  const [table] = await sql<[{ is_present: boolean }]>`
    select to_regclass(${tables[ledger]}) is not null as is_present`
  return table.is_present
}

/** Records a migration as applied, in place of an earlier text. */
export async function recordMigration(transaction: Sql, { ledger, version, name, sql }: Migration) {
  await transaction`
    insert into ${identifier(tables[ledger])} (version, name, statements)
    values (${version}, ${name}, array[${sql}]::text[])
    on conflict (version) do update set name = excluded.name, statements = excluded.statements`
}

/** The script of the declared functions that a database applied last; undefined if none. */
export async function recordedFunctions(sql: Sql): Promise<string | undefined> {
  if (!(await isPresent(sql, 'server'))) return undefined
  const [row] = await sql<{ script: string }[]>`
    select statements[1] as script from ${identifier(tables.server)} where version = ${functionsVersion}`
  return row?.script
}

/** Records the script of the declared functions as applied. */
export const recordFunctions = (transaction: Sql, script: string) =>
  recordMigration(transaction, {
    ledger: 'server',
    version: functionsVersion,
    name: 'functions',
    sql: script,
  })

/** The migrations that a database records, in order. A migration recorded without a text gets this program's text. */
async function recordedMigrations(sql: Sql): Promise<Migration[]> {
  const recorded: Migration[] = []
  for (const ledger of ['shared', 'server'] as const) {
    if (!(await isPresent(sql, ledger))) continue
    const rows = await sql<{ version: string; name: string | null; text: string | null }[]>`
      select version, name, nullif(array_to_string(statements, E';\n'), '') as text from ${identifier(tables[ledger])}
      where version <> ${functionsVersion}`
    for (const { version, name, text } of rows) {
      const ours = migrations.find((each) => each.ledger === ledger && each.version === version)
      recorded.push({ ledger, version, name: name ?? ours?.name ?? '', sql: text ?? ours?.sql ?? '' })
    }
  }
  return recorded.toSorted((a, b) => (a.version < b.version ? -1 : 1))
}

/** Reads which migrations a database records. */
export async function appliedMigrations(sql: Sql): Promise<Applied> {
  const versions = async (ledger: Ledger) => {
    if (!(await isPresent(sql, ledger))) return new Set<string>()
    const rows = await sql<{ version: string }[]>`
      select version from ${identifier(tables[ledger])} where version <> ${functionsVersion}`
    return new Set(rows.map(({ version }) => version))
  }
  return { shared: await versions('shared'), server: await versions('server') }
}

/**
 * Whether the database records a migration newer than all of ours, from a newer version of this program. A project's own older
 * migrations do not matter.
 */
export function isNewer(applied: Applied, files = migrations) {
  return (['shared', 'server'] as const).some((ledger) => {
    const known = files.filter((migration) => migration.ledger === ledger).at(-1)?.version ?? ''
    return [...applied[ledger]].some((version) => version > known)
  })
}

/**
 * Refuses a database that a newer version of this program has migrated.
 *
 * @throws {OperatorError} if a newer version has migrated it.
 */
export function refuseNewer(applied: Applied, files = migrations) {
  if (!isNewer(applied, files)) return
  throw new OperatorError(
    `The database was updated by a newer version of this program than this one: ${remedyForNewer}.`,
  )
}

/** The migrations whose recorded text differs from this program's. */
export interface ChangedTexts {
  /** Those of which the database applied a statement that this program's text lacks. */
  edited: Migration[]
  /** The others, each with only the statements that the database lacks. */
  continued: Migration[]
  /** The versions of recorded migrations whose statements are in a continued one now. */
  merged: string[]
  /** The recorded texts of continued and merged migrations. */
  earlier: string[]
}

/** Compares the recorded texts of migrations with this program's. */
export async function changedTexts(sql: Sql, files = migrations): Promise<ChangedTexts> {
  const recorded = await recordedMigrations(sql)
  const result: ChangedTexts = { edited: [], continued: [], merged: [], earlier: [] }
  for (const migration of files) {
    const { ledger, version } = migration
    const earlier = recorded.find((each) => each.ledger === ledger && each.version === version)
    if (earlier === undefined || !isEdited(migration, earlier.sql)) continue
    if (!isContained(earlier.sql, migration.sql)) {
      result.edited.push(migration)
      continue
    }
    const merged = recorded.filter((each) => mergedInto[version]?.includes(each.version))
    result.merged.push(...merged.map((each) => each.version))
    const texts = [earlier, ...merged].map((each) => each.sql)
    result.earlier.push(...texts)
    result.continued.push({ ...migration, sql: statementsSince(texts, migration.sql) })
  }
  return result
}

/** Removes migrations from the record of shared ones. */
export async function removeRecords(transaction: Sql, versions: readonly string[]): Promise<void> {
  if (versions.length === 0) return
  await transaction`delete from ${identifier(tables.shared)} where version = any(${versions}::text[])`
}

/**
 * The operator's remedy if migrations were edited after this database applied them.
 *
 * @returns Undefined if no migration was edited.
 */
export function remedyForEdited(edited: readonly Migration[]): string | undefined {
  if (edited.length === 0) return undefined
  const unreleased = edited.filter((each) => !isReleased(each))
  const names = (unreleased.length > 0 ? unreleased : edited).map(nameOf).join(', ')
  return unreleased.length > 0
    ? `The database applied another text of ${names}, which is not released yet. Nothing is lost: make a backup with the program that ran last (npm run backup), and restore it with this one into a new DATA_DIR (npm run restore).`
    : `Edited since they were applied: ${names}. Put them back as they were, and write new ones.`
}

/** @throws {OperatorError} if a migration was edited after this database applied it. */
export function refuseEdited(edited: readonly Migration[]): void {
  const sentence = remedyForEdited(edited)
  if (sentence !== undefined) throw new OperatorError(sentence)
}
