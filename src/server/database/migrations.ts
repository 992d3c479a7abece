import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres, { type Sql, type TransactionSql } from 'postgres'

import { OperatorError } from '../operator-error.ts'

/** The roles that the schema grants to. A hosted project has them; a plain PostgreSQL gets them here. */
const roles = ['anon', 'authenticated', 'service_role']

/** Any number that no other program's advisory lock on this database is likely to use. */
const migrationLock = 5_610_741

/**
 * Brings the schema up to date: applies the migrations that the database does not record yet, in the order
 * of their versions, all of them or none. They are recorded as the Supabase CLI records them, so that either
 * can take over from the other. Servers that start together apply them once.
 *
 * @param sql A connection whose user owns the schema.
 * @param directory Where the migrations lie, named `<version>_<name>.sql`.
 * @throws {OperatorError} where the roles are missing and may not be created.
 */
export async function migrate(sql: Sql, directory: string): Promise<void> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).toSorted()
  await sql
    .begin((transaction) => apply(transaction, directory, files))
    .catch(async (cause: unknown) => {
      if (!(cause instanceof postgres.PostgresError) || cause.code !== '42501') throw cause
      const [row] = await sql<{ user: string; database: string }[]>`
        select quote_ident(current_user) as user, quote_ident(current_database()) as database`
      throw new OperatorError(
        `The user of DATABASE_URL may not set up the schema (${cause.message}); an administrator has to run once: grant create on database ${row?.database} to ${row?.user}; grant create on schema public to ${row?.user};`,
        { cause },
      )
    })
}

async function apply(transaction: TransactionSql, directory: string, files: string[]) {
  await transaction`select pg_advisory_xact_lock(${migrationLock})`
  await createRoles(transaction)
  await transaction.unsafe(`
      create schema if not exists supabase_migrations;
      create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
      alter table supabase_migrations.schema_migrations add column if not exists statements text[];
      alter table supabase_migrations.schema_migrations add column if not exists name text;
    `)
  const applied = await transaction<{ version: string }[]>`
      select version from supabase_migrations.schema_migrations`
  const known = new Set(applied.map(({ version }) => version))
  for (const file of files) {
    const [, version = '', name = ''] = /^(\d+)_(.*)\.sql$/.exec(file) ?? []
    if (known.has(version)) continue
    const statements = await readFile(join(directory, file), 'utf8')
    await transaction.unsafe(statements)
    await transaction`
        insert into supabase_migrations.schema_migrations (version, name, statements)
        values (${version}, ${name}, array[${statements}]::text[])`
  }
}

async function createRoles(transaction: TransactionSql) {
  const existing = await transaction<{ rolname: string }[]>`
    select rolname from pg_roles where rolname in ${transaction(roles)}`
  const missing = roles.filter((role) => !existing.some(({ rolname }) => rolname === role))
  const create = missing.map((role) => `create role ${role} nologin noinherit;`)
  try {
    await transaction.savepoint((point) => point.unsafe(create.join(' ')))
    if (!(await mayBecomeAnon(transaction))) {
      await transaction.savepoint((point) => point.unsafe('grant anon to current_user'))
    }
  } catch (cause) {
    const [row] = await transaction<{ user: string }[]>`select quote_ident(current_user) as user`
    throw new OperatorError(
      `The user of DATABASE_URL may not set up the roles of the data interface; an administrator has to run once: ${[...create, `grant anon to ${row?.user};`].join(' ')}`,
      { cause },
    )
  }
}

async function mayBecomeAnon(transaction: TransactionSql) {
  try {
    await transaction.savepoint((point) => point.unsafe('set local role anon; reset role'))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42501') return false
    throw error
  }
}
