import { beforeAll, expect, test } from 'vitest'

import { openEmbeddedDatabase } from '../../support/database.ts'
import { anApplication } from '../../support/form.ts'
import { newProject } from '../../support/hosted-project.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { connectTo } from '../../support/sql.ts'
import type { Database } from '../../../src/server/database/database.ts'
import { insertApplications, sentRowsOf } from '../../../src/server/applications/insert-rows.ts'
import { migrations, type Migration } from '../../../src/server/database/schema/migration-files.ts'
import { ownerRole } from '../../../src/server/database/schema/owner.ts'
import { visitor } from '../../../src/server/database/connection/pools.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let database: Database
let server: TestPostgres

beforeAll(async () => {
  ;[database, server] = await Promise.all([openEmbeddedDatabase(), startPostgres()])
})

async function newDatabase(name: string, owner = 'postgres') {
  await server.admin.unsafe(`create database ${name} owner ${owner}`)
  return connectTo(server.url(name, owner), 2)
}

/** Reads the owners of everything in our schemas, each with the owned objects. */
async function ownersIn(sql: Sql) {
  const rows = await sql<{ owner: string; things: string[] }[]>`
    with ours as (select oid from pg_namespace where nspname in ('public', 'private', 'auth')), things as (
      select 'schema ' || nspname as name, nspowner as owner from pg_namespace where nspname in ('private', 'auth')
      union all
      select 'relation ' || oid::regclass, relowner from pg_class where relnamespace in (select oid from ours)
      union all
      select 'function ' || oid::regprocedure, proowner from pg_proc where pronamespace in (select oid from ours)
      union all
      select 'type ' || oid::regtype, typowner from pg_type where typnamespace in (select oid from ours)
    )
    select pg_get_userbyid(owner) as owner, to_json(array_agg(name order by name)) as things from things group by 1`
  return new Map(rows.map(({ owner, things }) => [owner, things]))
}

/** All migrations, and a fictional one that creates a table and a function. */
const withFictional: readonly Migration[] = [
  ...migrations,
  {
    ledger: 'shared',
    version: '29990101000000',
    name: 'another',
    sql: `create table private.another (id bigint generated always as identity primary key);
      create function private.another() returns integer language sql security definer set search_path = '' return 1;`,
  },
]

// break: owner-may-create-roles
test('on the embedded database, all our objects belong to a role that cannot log in and has no other rights', async () => {
  const { owner } = database
  expect([...(await ownersIn(owner)).keys()]).toEqual([ownerRole])
  const roles = await owner`
    select rolsuper, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
      (select count(*)::int from pg_auth_members where member = pg_roles.oid or roleid = pg_roles.oid) as memberships
    from pg_roles where rolname = ${ownerRole}`
  expect(roles).toEqual([
    {
      rolsuper: false,
      rolcanlogin: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
      memberships: 0,
    },
  ])
})

// break: superuser-owns-objects
test.each([
  ['run a program', "copy (select 1) to program 'true'"],
  ['write a file', "copy (select 1) to '/tmp/unplugged-owner-test'"],
  ['read a file', "select pg_read_file('postgresql.conf')"],
  ['list a folder', "select pg_ls_dir('.')"],
  ['import a file as a large object', "select lo_import('/etc/hosts')"],
  ['create a role', 'create role another superuser'],
  ['give itself more rights', `alter role ${ownerRole} superuser`],
  ['grant a role', 'grant postgres to anon'],
  ['turn off triggers', 'set session_replication_role = replica'],
  ['change a setting', "alter database postgres set log_statement = 'all'"],
  [
    'create a function in C',
    "create function private.another() returns integer language c as 'libc', 'getpid'",
  ],
  ['read the passwords', 'select rolpassword from pg_authid'],
  ['change the ledger of the migrations', 'delete from supabase_migrations.schema_migrations'],
])('a function that visitors may call has no right to %s', async (_what, statement) => {
  const { owner, as } = database
  const undo = new Error('to be undone')
  const called = owner.begin(async (transaction) => {
    // A function that a migration replaces keeps its owner.
    await transaction.unsafe(`
      create or replace function public.door_is_open() returns jsonb
        language plpgsql security definer set search_path = ''
      as $$ begin execute $act$${statement}$act$; return '{}'; end $$`)
    await transaction`set local role anon`
    await transaction`select public.door_is_open()`
    throw undo
  })
  await expect(called).rejects.toMatchObject({ code: '42501' })
  // The function is unchanged.
  expect(await as(visitor)`select public.door_is_open() as door`).toEqual([{ door: { is_open: true } }])
})

test('the owner may not change the settings of PostgreSQL', async () => {
  const sql = await newDatabase('settings')
  await migrate(sql)
  const asOwner = connectTo(`${server.url('settings')}?options=-c%20role%3D${ownerRole}`)
  expect(await asOwner`select current_user as role`).toEqual([{ role: ownerRole }])
  await expect(asOwner`alter system set archive_command = 'true'`).rejects.toMatchObject({ code: '42501' })
})

test("an update gives a superuser's objects to the owner, including new ones, and applications are still stored", async () => {
  const sql = await newDatabase('former')
  await migrate(sql)
  await sql.unsafe(`reassign owned by ${ownerRole} to postgres`)
  expect([...(await ownersIn(sql)).keys()]).toEqual(['postgres'])
  await migrate(sql, { files: withFictional })
  expect([...(await ownersIn(sql)).keys()]).toEqual([ownerRole])
  const asVisitor = connectTo(`${server.url('former')}?options=-c%20role%3Danon`)
  await insertApplications(asVisitor, sentRowsOf(anApplication()))
  expect(await sql`select kind from private.deliveries`).toEqual([{ kind: 'application' }])
})

test('objects of a user who is not a superuser keep their owner, even if a superuser changes the schema', async () => {
  await migrate(await newDatabase('roles'))
  await server.admin.unsafe('create role organiser login; grant anon, authenticated to organiser')
  const sql = await newDatabase('theirs', 'organiser')
  await migrate(sql)
  const before = await ownersIn(sql)
  expect([...before.keys()]).toEqual(['organiser'])
  await migrate(connectTo(server.url('theirs'), 2))
  expect(await ownersIn(sql)).toEqual(before)
})

test.each(['a separate owner', 'a superuser'])('in a hosted project, %s keeps all objects', async (owner) => {
  const name = owner.replaceAll(' ', '_')
  await newProject(server, name)
  const user = owner === 'a superuser' ? 'postgres' : `${name}_owner`
  const sql = connectTo(server.url(name, user), 2)
  await migrate(sql)
  const owners = await ownersIn(sql)
  expect(owners.get(user)).toContain('function desk_me()')
  expect(owners.has(ownerRole)).toBe(false)
})
