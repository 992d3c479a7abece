import { commandLine } from '../../settings/command-to-copy.ts'
import { minVersion, tooOldPostgres, type ReadOnlyDatabase } from '../database/database.ts'
import { remedyForNewer, remedyForEdited } from '../database/schema/ledgers.ts'
import { schemaState } from '../database/schema/schema-state.ts'
import { notKnown, ok, wrong, wrongIf } from '../finding.ts'
import type { Sql } from '../database/connection/sql.ts'

/**
 * Seconds by which this machine's clock may differ from the database's. One of them dates codes and tokens, and the other
 * checks whether they have expired.
 */
const maxClockDifference = 5

/** Reports the database, and checks that its files are in place, its version is supported, and it is not a standby. */
export async function checkDatabase({ read, description, started, isMisplaced }: ReadOnlyDatabase) {
  const [row] = await read(
    async (sql) => sql<[{ version: string; number: number; size: string; standby: boolean }]>`
      select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
        pg_size_pretty(pg_database_size(current_database())) as size, pg_is_in_recovery() as standby`,
  )
  const note = started ? ' It was not running: the doctor started it to read it, and stopped it again.' : ''
  return (
    wrongIf([
      isMisplaced &&
        `${description} runs, but its folder is gone from there: make a backup at once (${commandLine('backup', '--to <folder>')}), then mount its disk or put the folder back, and restart the server.`,
      row.number < minVersion && tooOldPostgres(description, row.version),
      row.standby &&
        `${description} is a standby, which takes no writes: DATABASE_URL should name the primary.`,
    ]) ?? ok(`${description}, version ${row.version}, ${row.size}.${note}`)
  )
}

/** Checks that our database user has the rights that a server needs, and that visitors may do nothing in tables but apply. */
export async function checkRights({ read }: ReadOnlyDatabase) {
  return read(async (sql) => {
    // From PostgreSQL 16 on, a member of a role may lack the right to act as that role.
    const actsAs = sql`case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end`
    const [row] = await sql<[Rights]>`
      select quote_ident(current_user) as "user", quote_ident(current_database()) as "database",
        has_database_privilege(current_database(), 'create') and has_schema_privilege('public', 'create') as may_create,
        (
          select coalesce(jsonb_agg(role), '[]') from unnest(array['anon', 'authenticated']) as role
          where not exists (select from pg_roles where rolname = role and pg_has_role(pg_roles.oid, ${actsAs}))
        ) as "missing", to_regclass('public.retreat_applications') is not null as "hasSchema"`
    const [tables] = await sql<[Tables]>`
      with ours as (
        select oid, oid::regclass::text as name, relowner, relrowsecurity from pg_class
        where relkind = 'r'
          and (relnamespace = to_regnamespace('private') or oid = to_regclass('public.retreat_applications'))
      )
      select
        (select coalesce(jsonb_agg(name), '[]') from ours where not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
          and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))) as "unusable",
        (select coalesce(jsonb_agg(name), '[]') from ours where not pg_has_role(relowner, 'usage')) as "foreign",
        (select coalesce(jsonb_agg(name), '[]') from ours where not relrowsecurity or exists (
          select from pg_roles where rolname in ('anon', 'authenticated')
            and (has_any_column_privilege(pg_roles.oid, ours.oid, 'select, update, references')
              or has_table_privilege(pg_roles.oid, ours.oid, 'delete, truncate, trigger')))) as "exposed"`
    const { user, database, may_create: mayCreate, missing, hasSchema } = row
    return (
      wrongIf([
        hasSchema &&
          missing.length > 0 &&
          `${user} may not act as ${missing.join(' and ')}: an administrator has to run once: grant ${missing.join(', ')} to ${user};`,
        !mayCreate &&
          `${user} may not change the schema, so an update would not start: an administrator has to run once: grant create on database ${database} to ${user}; grant create on schema public to ${user};`,
        tables.unusable.length > 0 &&
          `${user} may not read and write ${tables.unusable.join(', ')}: an administrator has to grant all on them.`,
        tables.foreign.length > 0 &&
          `${tables.foreign.join(', ')} belong to another user, so an update would not start: an administrator has to make ${user} a member of that one.`,
        tables.exposed.length > 0 &&
          `Everybody with the public key may read or change ${tables.exposed.join(', ')}: revoke all on them from anon, authenticated, enable row level security, and start the server once more.`,
      ]) ??
      (hasSchema ? undefined : notKnown('There is no schema yet, so there are no rights to check.')) ??
      ok(`Database user ${user} has the rights that the server needs, and visitors may only apply.`)
    )
  })
}

interface Rights {
  user: string
  database: string
  may_create: boolean
  /** Roles that our user may not act as. */
  missing: string[]
  hasSchema: boolean
}

interface Tables {
  /** Tables that our user may not read and write. */
  unusable: string[]
  /** Tables of an owner whose rights our user does not have. */
  foreign: string[]
  /** Tables in which visitors may do more than insert, and tables without row level security. */
  exposed: string[]
}

/** Checks that the schema matches this program. */
export async function checkSchemaState({ read }: ReadOnlyDatabase) {
  const { newest, missing, isNewer, edited, isHostedProject } = await read((sql) => schemaState(sql))
  if (newest === undefined) {
    return wrong('The database holds no applications yet: start the server once, which makes the schema.')
  }
  if (isNewer) {
    return wrong(
      `The newest migration is ${newest}, which a newer version of this program made: ${remedyForNewer}.`,
    )
  }
  const remedy = isHostedProject
    ? 'run supabase db push, or start the server once more'
    : 'start the server once more, which applies them'
  return (
    wrongIf([
      remedyForEdited(edited),
      missing.length > 0 &&
        `The newest migration is ${newest}, and ${missing.length} of this version ${missing.length === 1 ? 'is' : 'are'} missing: ${remedy}.`,
    ]) ?? ok(`${newest} is the newest migration.`)
  )
}

/** Checks that this machine's clock agrees with the database's. */
export async function checkClock({ read }: ReadOnlyDatabase, now = Date.now) {
  const { difference, uncertainty } = await read(async (sql: Sql) => {
    const sentAt = now()
    const [row] = await sql<[{ at: number }]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`
    const receivedAt = now()
    return { difference: (sentAt + receivedAt) / 2 - row.at, uncertainty: (receivedAt - sentAt) / 2 }
  })
  const seconds = Math.round(Math.abs(difference) / 100) / 10
  if (uncertainty > maxClockDifference * 1000)
    return notKnown('The database answers too slowly to compare clocks.')
  if (Math.abs(difference) - uncertainty <= maxClockDifference * 1000)
    return ok("This machine's clock agrees with the database's.")
  return wrong(
    `This machine's clock is ${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} the database's: have both set by NTP.`,
  )
}
