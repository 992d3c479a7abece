import { isDatabaseError } from '../connection/connection.ts'
import { declaredFunctions } from './declared-functions.ts'
import { ownerOfAuth } from './owner-of-auth.ts'
import { identifier, Template, type Sql } from '../connection/sql.ts'

/** The role that owns our objects in place of a superuser: functions that run with their owner's rights get only its rights. */
export const ownerRole = 'unplugged_owner'

const declaredNames = declaredFunctions.map(({ name }) => name).filter((name) => name.startsWith('public.'))

/**
 * The SQL condition for our functions in `public`, where a hosted project may have other functions, too. A later version of the
 * schema may have more functions of the desk.
 */
export const ourFunctionsCondition = new Template(
  [`(starts_with(proname, 'desk_') or 'public.' || proname = any ('{${declaredNames.join()}}'))`],
  [],
)

/**
 * Gives our schemas, tables and functions to a role that cannot log in and is no superuser. This happens only if a superuser
 * changes the schema and the accounts are ours, as on the embedded database. Hosted projects and other users keep what they own.
 * Tables and functions change owner together, since only a table's owner bypasses its row level security.
 *
 * @param transaction A transaction in which the migrations have run.
 */
export async function giveToOwner(transaction: Sql): Promise<void> {
  if ((await ownerOfAuth(transaction)) !== 'us') return
  const others = await transaction<{ statement: string }[]>`
    with ours as (
      select 'schema ' || oid::regnamespace as name, nspowner as owner from pg_namespace
      where nspname in ('private', 'auth')
      union all
      select case relkind when 'v' then 'view ' else 'table ' end || oid::regclass, relowner from pg_class
      where relkind in ('r', 'v') and relnamespace in ('private'::regnamespace, 'auth'::regnamespace)
        or oid = 'public.retreat_applications'::regclass
      union all
      select 'function ' || oid::regprocedure, proowner from pg_proc
      where pronamespace in ('private'::regnamespace, 'auth'::regnamespace)
        or pronamespace = 'public'::regnamespace and ${ourFunctionsCondition}
    )
    select format('alter %s owner to %I', name, ${ownerRole}::text) as statement from ours
    where pg_get_userbyid(owner) <> ${ownerRole}
      and (select rolsuper from pg_roles where rolname = current_user)
      -- Tables of a user who is not a superuser keep their owner, even if a superuser changes the schema later.
      and exists (
        select from pg_class join pg_roles on pg_roles.oid = relowner
        where pg_class.oid = 'public.retreat_applications'::regclass and (rolsuper or rolname = ${ownerRole})
      )`
  if (others.length === 0) return
  await ensureOwner(transaction)
  await transaction.unsafe(others.map(({ statement }) => statement).join('; '))
}

async function ensureOwner(transaction: Sql) {
  const existing = await transaction`select from pg_roles where rolname = ${ownerRole}`
  if (existing.length > 0) return
  await transaction
    .begin((part) => part`create role ${identifier(ownerRole)} nologin noinherit`)
    .catch((error: unknown) => {
      // A server on another database of the same PostgreSQL has just created the role.
      if (!isDatabaseError(error) || !['42710', '23505'].includes(error.code)) throw error
    })
}
