import { readdir, readFile } from 'node:fs/promises'

import { declaredFiles, signInFile } from '../../src/server/database/schema/declared-files.ts'
import { giveToOwner } from '../../src/server/database/schema/owner.ts'
import { migrate } from '../../src/server/database/schema/migrate.ts'
import { newProject } from './hosted-project.ts'
import type { TestPostgres } from './postgres.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { connectTo } from './sql.ts'
import type { Pool } from '../../src/server/database/connection/pool.ts'

/**
 * Makes the schema in an empty database from the files that declare it.
 *
 * @param sql A connection of the database's owner. The roles of the data interface must exist.
 * @param kind `server`: our own server's database. `project`: a hosted project. `project with a server`: a hosted project whose
 * database our own server uses.
 */
export async function declareSchema(sql: Sql, kind: 'server' | 'project' | 'project with a server') {
  await sql.begin(async (transaction) => {
    for (const { path, ledger, text } of declaredFiles) {
      if (kind === 'project' && ledger === 'server') continue
      if (kind === 'project with a server' && path === signInFile) continue
      await transaction.unsafe(text)
    }
    await giveToOwner(transaction)
  })
}

/** The contents of a database, by kind and name, as PostgreSQL describes them. */
export type Catalogue = ReadonlyMap<string, string>

/**
 * Reads the contents of the schemas `public`, `private` and `auth`: tables with their columns, defaults, constraints, indexes,
 * triggers and policies; functions with their settings; all owners and rights. Two databases with equal catalogues behave alike,
 * even if their objects were created in different orders.
 *
 * @param sql A connection of the schema's owner. The catalogue calls this role `owner`.
 */
export async function readCatalogue(sql: Sql): Promise<Catalogue> {
  const rights = (acl: string, defaults: string) => `(
    select coalesce(string_agg(right_of, ' ' order by right_of), '')
    from aclexplode(coalesce(${acl}, ${defaults})), format('%s=%s%s', case grantee
      when 0 then 'public' when current_user::regrole then 'owner' else grantee::regrole::text
    end, privilege_type, case when is_grantable then '*' end) as right_of)`
  const rows = await sql.unsafe<{ what: string; definition: string; owner: string }[]>(`
    with spaces as (
      select * from pg_namespace where nspname in ('public', 'private', 'auth')
    ), relations as (
      select pg_class.*, nspname, format('%I.%I', nspname, relname) as name
      from pg_class join spaces on relnamespace = spaces.oid
      where (nspname, relname) <> ('private', 'server_migrations')
        and (nspname, relname) <> ('private', 'server_migrations_pkey')
    ), things as (
      select 'the schema ' || nspname as what,
        concat_ws(' ', nspowner::regrole, ${rights('nspacl', `acldefault('n', nspowner)`)}) as definition
      from spaces
      union all
      select case relkind when 'S' then 'the sequence ' when 'v' then 'the view ' else 'the table ' end || name,
        concat_ws(' ', relkind, relpersistence, relowner::regrole, reloptions, relrowsecurity, relforcerowsecurity,
          relreplident, ${rights('relacl', `acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner)`)},
          case relkind when 'S' then (
            select concat_ws(' ', seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle)
            from pg_sequence where seqrelid = relations.oid)
          when 'v' then pg_get_viewdef(relations.oid) end)
      from relations where relkind not in ('i', 'I')
      union all
      select format('the column %I of %s', attname, name),
        concat_ws(' ', row_number() over (partition by attrelid order by attnum),
          format_type(atttypid, atttypmod), attcollation, attnotnull, attidentity, attgenerated, attstorage,
          attcompression, pg_get_expr(adbin, adrelid), ${rights('attacl', `acldefault('c', relowner)`)})
      from relations join pg_attribute on attrelid = relations.oid
        left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped and relkind not in ('i', 'I', 'S')
      union all
      select format('the constraint %I of %s', conname, name),
        concat_ws(' ', pg_get_constraintdef(pg_constraint.oid), convalidated, condeferrable, condeferred)
      from relations join pg_constraint on conrelid = relations.oid
      -- The column itself says that it is not null. PostgreSQL 18 also has a named constraint for it.
      where contype <> 'n'
      union all
      select 'the index ' || name, concat_ws(' ', pg_get_indexdef(relations.oid), indisvalid, indisclustered,
        indisreplident, relowner::regrole)
      from relations join pg_index on indexrelid = relations.oid
      union all
      select format('the trigger %I of %s', tgname, name), concat_ws(' ', pg_get_triggerdef(pg_trigger.oid), tgenabled)
      from relations join pg_trigger on tgrelid = relations.oid where not tgisinternal
      union all
      select format('the policy %I of %s', polname, name), concat_ws(' ', polcmd, polpermissive,
        array(select role::regrole::text from unnest(polroles) as role order by 1),
        pg_get_expr(polqual, polrelid), '/', pg_get_expr(polwithcheck, polrelid))
      from relations join pg_policy on polrelid = relations.oid
      union all
      select format('the type %I.%I', nspname, typname),
        concat_ws(' ', typowner::regrole, format_type(typbasetype, typtypmod), ${rights('typacl', `acldefault('T', typowner)`)})
      from pg_type join spaces on typnamespace = spaces.oid
      where typtype in ('d', 'e', 'r') or typtype = 'c' and typrelid in (select oid from relations)
      union all
      select format('the function %I.%I(%s)', nspname, proname, oidvectortypes(proargtypes)),
        concat_ws(' ', pg_get_functiondef(pg_proc.oid), proowner::regrole, ${rights('proacl', `acldefault('f', proowner)`)})
      from pg_proc join spaces on pronamespace = spaces.oid where prokind in ('f', 'p')
      union all
      select format('what %s gives by default in %s on %s', defaclrole::regrole, coalesce(nspname, 'all schemas'), defaclobjtype),
        ${rights('defaclacl', `acldefault('n', defaclrole)`)}
      from pg_default_acl left join spaces on defaclnamespace = spaces.oid
      union all
      select 'the extension ' || extname, '' from pg_extension
    )
    select what, definition, current_user::regrole::text as owner from things`)
  return new Map(
    rows.map(({ what, definition, owner }) => [
      what.replaceAll(owner, 'owner'),
      definition.replaceAll(owner, 'owner'),
    ]),
  )
}

/** The rows of all tables, without values that differ in each database: ids, times, digests. */
async function readRows(sql: Sql): Promise<Catalogue> {
  const tables = await sql<{ name: string; stable_columns: string[] | null }[]>`
    select attrelid::regclass::text as name, array_agg(attname::text order by attname) filter (
      where atttypid not in ('uuid'::regtype, 'timestamptz'::regtype) and attname <> 'code_hash') as stable_columns
    from pg_attribute join pg_class on attrelid = pg_class.oid
    where relnamespace::regnamespace::text in ('public', 'private') and relkind = 'r' and attnum > 0
      and not attisdropped and relname <> 'server_migrations'
    group by 1`
  const rows = tables.map(({ name, stable_columns }) =>
    sql.unsafe<{ what: string; times: string }[]>(`
      select 'the row ' || to_jsonb(stable_row)::text || ' of ${name}' as what, count(*) || ' times' as times
      from (select ${(stable_columns ?? []).join(', ')} from ${name}) as stable_row group by 1`),
  )
  return new Map((await Promise.all(rows)).flat().map(({ what, times }) => [what, times]))
}

/** Returns the entries of the catalogue, and the rows, in which two databases differ. */
export async function compare(migrated: Sql, declared: Sql) {
  const read = async (sql: Sql): Promise<Catalogue> =>
    new Map([...(await readCatalogue(sql)), ...(await readRows(sql))])
  const [actual, expected] = await Promise.all([read(migrated), read(declared)])
  return [...new Set([...actual.keys(), ...expected.keys()])]
    .filter((what) => actual.get(what) !== expected.get(what))
    .toSorted()
    .map((what) => ({ what, migrated: actual.get(what), declared: expected.get(what) }))
}

/** Applies the migrations of a hosted project in the order of their versions, as `supabase db push` does. */
export async function pushMigrations(owner: Sql) {
  for (const file of (await readdir('supabase/migrations')).toSorted()) {
    await owner.unsafe(await readFile(`supabase/migrations/${file}`, 'utf8'))
  }
}

/**
 * Makes the schema twice in empty databases: by the migrations, and from the files that declare it.
 *
 * @returns The differences. Each means that somebody changed only the migrations or only the declaring files.
 */
export async function differencesOn(server: Pick<TestPostgres, 'url' | 'admin'>) {
  const databases = ['migrated', 'declared'].map(async (name) => {
    await server.admin.unsafe(`create database ${name}`)
    return connectTo(server.url(name), 2)
  })
  const [migrated, declared] = (await Promise.all(databases)) as [Pool, Pool]
  await migrate(migrated)
  await declareSchema(declared, 'server')
  const differences = await compare(migrated, declared)
  await Promise.all([migrated.end(), declared.end()])
  return differences
}

/**
 * Does the same as {@link differencesOn} on the stand-in of a hosted project.
 *
 * @param migratedBy How the migrations are applied: `push` as the Supabase CLI does, `server` as our server does.
 */
export async function differencesInProject(
  server: Pick<TestPostgres, 'url' | 'admin'>,
  migratedBy: 'push' | 'server',
) {
  const migrated = await newProject(server, `${migratedBy}_migrated`)
  const declared = await newProject(server, `${migratedBy}_declared`)
  await (migratedBy === 'push' ? pushMigrations(migrated.owner) : migrate(migrated.owner))
  await declareSchema(declared.owner, migratedBy === 'push' ? 'project' : 'project with a server')
  const differences = await compare(migrated.owner, declared.owner)
  await Promise.all([migrated.end(), declared.end()])
  return differences
}
