import { OperatorError } from '../../settings/operator-error.ts'
import { isEdited, isReleased, migrations, nameOf, type Ledger, type Migration } from './migrations.ts'
import { identifier, type Sql } from './sql.ts'

/** The table of each ledger. A ledger records which migrations were applied. */
const tables: Record<Ledger, string> = {
  shared: 'supabase_migrations.schema_migrations',
  server: 'private.server_migrations',
}

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

/** Records a migration as applied. */
export async function recordMigration(transaction: Sql, { ledger, version, name, sql }: Migration) {
  await transaction`
    insert into ${identifier(tables[ledger])} (version, name, statements)
    values (${version}, ${name}, array[${sql}]::text[])`
}

/** The migrations that a database records, in order. A migration recorded without a text gets this program's text. */
export async function recordedMigrations(sql: Sql): Promise<Migration[]> {
  const recorded: Migration[] = []
  for (const ledger of ['shared', 'server'] as const) {
    const [table] = await sql<
      { is_present: boolean }[]
    >`select to_regclass(${tables[ledger]}) is not null as is_present`
    if (!table?.is_present) continue
    const rows = await sql<{ version: string; name: string | null; text: string | null }[]>`
      select version, name, nullif(array_to_string(statements, E';\n'), '') as text from ${identifier(tables[ledger])}`
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
    const [table] = await sql<
      { is_present: boolean }[]
    >`select to_regclass(${tables[ledger]}) is not null as is_present`
    if (!table?.is_present) return new Set<string>()
    const rows = await sql<{ version: string }[]>`select version from ${identifier(tables[ledger])}`
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

/** Migrations whose recorded text differs from this program's. */
export async function editedMigrations(sql: Sql, files = migrations): Promise<Migration[]> {
  const recorded = await recordedMigrations(sql)
  return files.filter((migration) => {
    const { ledger, version } = migration
    const applied = recorded.find((each) => each.ledger === ledger && each.version === version)
    return applied !== undefined && isEdited(migration, applied.sql)
  })
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
    ? `The database applied an earlier text of ${names}, which is not released yet: go back to the backup of before that update (docs/operate.md#go-back), or begin with an empty database.`
    : `Edited since they were applied: ${names}. Put them back as they were, and write new ones.`
}

/** @throws {OperatorError} if a migration was edited after this database applied it. */
export function refuseEdited(edited: readonly Migration[]): void {
  const sentence = remedyForEdited(edited)
  if (sentence !== undefined) throw new OperatorError(sentence)
}
