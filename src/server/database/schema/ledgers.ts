import { createHash } from 'node:crypto'

import { OperatorError } from '../../../settings/operator-error.ts'
import { isEdited, migrations, nameOf, type Ledger, type Migration } from './migration-files.ts'
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

/** Records a migration as applied. */
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

const digestOf = ({ sql }: Migration) => createHash('sha256').update(sql).digest('hex')

/**
 * The migrations of which a database applied another text than this program's. A migration recorded without a text counts as the
 * same.
 */
export async function editedMigrations(sql: Sql, files = migrations): Promise<Migration[]> {
  const edited: Migration[] = []
  for (const ledger of ['shared', 'server'] as const) {
    if (!(await isPresent(sql, ledger))) continue
    const own = files.filter((each) => each.ledger === ledger)
    // Only texts that differ are read: all of them are two megabytes.
    const rows = await sql<{ version: string; text: string }[]>`
      select version, text
      from unnest(${own.map(({ version }) => version)}::text[], ${own.map(digestOf)}::text[]) as own (version, digest)
        join ${identifier(tables[ledger])} using (version),
        lateral (select array_to_string(statements, E';\\n') as text) as applied
      where text <> '' and encode(sha256(convert_to(text, 'UTF8')), 'hex') <> digest`
    edited.push(
      ...own.filter((each) =>
        rows.some(({ version, text }) => version === each.version && isEdited(each, text)),
      ),
    )
  }
  return edited
}

/**
 * The operator's remedy if a database applied another text of migrations.
 *
 * @returns Undefined if there are no such migrations.
 */
export function remedyForEdited(edited: readonly Migration[]): string | undefined {
  if (edited.length === 0) return undefined
  return `The database applied another text of ${edited.map(nameOf).join(', ')} than this program has. Nothing is lost: make a backup with the program that ran last (npm run backup), and restore it with this one into a new DATA_DIR or DATABASE_URL (npm run restore).`
}

/** @throws {OperatorError} if a migration was edited after this database applied it. */
export function refuseEdited(edited: readonly Migration[]): void {
  const sentence = remedyForEdited(edited)
  if (sentence !== undefined) throw new OperatorError(sentence)
}
