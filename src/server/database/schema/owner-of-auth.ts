import { OperatorError } from '../../../settings/operator-error.ts'
import type { Sql } from '../connection/sql.ts'

/** The owner of the schema `auth`: our own sign-in, a hosted project, or nobody yet. */
export type OwnerOfAuth = 'us' | 'supabase' | 'nobody'

/**
 * Finds out who owns the schema `auth`. The server's migrations read the result as the setting `unplugged.auth`, to recognise a
 * hosted project.
 *
 * @throws {OperatorError} if the schema belongs to another program.
 */
export async function ownerOfAuth(sql: Sql): Promise<OwnerOfAuth> {
  // Two tables of Supabase's authentication server, and one that only our sign-in has.
  const [row] = await sql<{ is_present: boolean; is_supabase: boolean; is_ours: boolean }[]>`
    select to_regnamespace('auth') is not null as is_present,
      to_regclass('auth.users') is not null and to_regclass('auth.schema_migrations') is not null as is_supabase,
      to_regclass('auth.users') is not null and to_regclass('private.signing_keys') is not null as is_ours`
  if (row?.is_supabase) return 'supabase'
  if (row?.is_ours) return 'us'
  if (!row?.is_present) return 'nobody'
  throw new OperatorError(
    'The database has a schema "auth" that is not Supabase\'s: give this server a database of its own.',
  )
}
