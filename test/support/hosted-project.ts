import type { TestPostgres } from './postgres.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { connectTo } from './sql.ts'

/**
 * Creates a database like that of a new hosted project, which is not available here. It has the project's roles, and the parts of
 * the schema `auth` that we use. Its default privileges give the roles of the data interface all rights on new objects.
 *
 * @param name The name of the database.
 * @returns The database's address for the project's owner, a connection of the owner, and one with Supabase's rights.
 */
export async function newProject(
  database: Pick<TestPostgres, 'url' | 'admin'>,
  name = 'project',
): Promise<{ url: string; owner: Sql; asSupabase: Sql; end: () => Promise<void> }> {
  await database.admin.unsafe(`
    do $$ begin
      create role anon nologin noinherit;
      create role authenticated nologin noinherit;
      create role service_role nologin noinherit bypassrls;
    exception when duplicate_object then null;
    end $$;
    create role ${name}_owner login createrole createdb bypassrls;
    grant anon, authenticated, service_role to ${name}_owner with admin option;
  `)
  await database.admin.unsafe(`create database ${name} owner ${name}_owner`)
  const url = database.url(name, `${name}_owner`)
  const owner = connectTo(url, 2)
  for (const kind of ['tables', 'sequences', 'functions']) {
    await owner.unsafe(
      `alter default privileges in schema public grant all on ${kind} to anon, authenticated, service_role`,
    )
  }
  const admin = connectTo(database.url(name))
  await admin.unsafe(`
    create schema auth;
    create table auth.schema_migrations (version text primary key);
    create table auth.users (
      id uuid primary key default gen_random_uuid(), email text, email_confirmed_at timestamptz,
      created_at timestamptz, last_sign_in_at timestamptz, is_sso_user boolean not null default false
    );
    create table auth.sessions (id uuid primary key, user_id uuid references auth.users on delete cascade, aal text);
    create table auth.mfa_factors (id uuid primary key, user_id uuid references auth.users on delete cascade, status text);
    create function auth.jwt() returns jsonb language sql stable as
      'select nullif(current_setting(''request.jwt.claims'', true), '''')::jsonb';
    create function auth.uid() returns uuid language sql stable as
      'select (nullif(current_setting(''request.jwt.claims'', true), '''')::jsonb ->> ''sub'')::uuid';
    alter table auth.users enable row level security;
    alter table auth.sessions enable row level security;
    alter table auth.mfa_factors enable row level security;
    grant usage on schema auth to anon, authenticated, ${name}_owner;
    grant select on all tables in schema auth to ${name}_owner;
    grant references on auth.users to ${name}_owner;
  `)
  const end = async () => {
    await Promise.all([owner.end(), admin.end()])
  }
  return { url, owner, asSupabase: admin, end }
}
