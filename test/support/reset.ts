import type { Sql } from '../../src/server/database/connection/sql.ts'

/** Tables that no reset changes: a server keeps what it read from them, and no test changes them. */
const constantTables = [
  'private.server_migrations',
  'private.installation',
  'private.signing_keys',
  'private.decoys',
]

/**
 * Restores a database to the contents of a new one. Accounts, their sessions and organisers stay, with the settings that a new
 * organiser has. A `beforeEach` calls this, so that tests do not depend on each other.
 *
 * @param owner Connections of the superuser.
 */
export async function resetDatabase(owner: Sql): Promise<void> {
  await owner`select tests.reset()`
}

/**
 * Adds the function that `resetDatabase` calls to a new database, in a schema of its own with copies of all rows. The function
 * deletes rows: the median of 50 calls was 3 ms on a busy machine, and that of `truncate`, which also waits for all readers, 41 ms.
 */
export async function installReset(owner: Sql): Promise<void> {
  const tables = await owner<{ name: string; copy: string }[]>`
    select oid::regclass::text as name, 'tests.' || quote_ident(relname) as copy from pg_class
    where relkind = 'r' and relnamespace in ('public'::regnamespace, 'private'::regnamespace)
      and oid <> all (${constantTables}::regclass[]) and oid <> 'private.organisers'::regclass
    -- Requests lock applications first, too.
    order by relname <> 'retreat_applications', relname`
  await owner.unsafe('create schema tests')
  const statements = tables.map(({ name }) => `delete from ${name};`)
  for (const { name, copy } of tables) {
    const { count } = await owner.unsafe(`select from ${name} limit 1`)
    if (count === 0) continue
    await owner.unsafe(`create table ${copy} as table ${name}`)
    statements.push(`insert into ${name} overriding system value table ${copy};`)
  }
  await owner.unsafe(`
    create function tests.reset() returns void language plpgsql set session_replication_role = replica as $$
    begin
      -- Beginning an edition changes this default.
      if exists (select from private.editions where id > 1) then
        alter table public.retreat_applications alter column edition set default 1;
      end if;
      ${statements.join('\n      ')}
      update private.organisers set blind = default, notices = default, told_until = default, day_due_at = default,
        reads_only = default, name = default, is_reader = default;
    end
    $$;
    revoke execute on function tests.reset() from public`)
}
