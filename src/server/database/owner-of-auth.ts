import { OperatorError } from '../../settings/operator-error.ts'
import type { Sql } from './sql.ts'

/** Whose the schema `auth` is: of our own sign-in, of a hosted project's, or there is none yet. */
export type OwnerOfAuth = 'us' | 'supabase' | 'nobody'

/**
 * Tells whose the schema `auth` is. The server's migrations read it as the setting `unplugged.auth`, and so know a hosted
 * project's database.
 *
 * @throws {OperatorError} where it is somebody else's.
 */
export async function ownerOfAuth(sql: Sql): Promise<OwnerOfAuth> {
  // The two tables that Supabase's authentication server makes first; and one that only our sign-in has.
  const [row] = await sql<{ there: boolean; supabase: boolean; ours: boolean }[]>`
    select to_regnamespace('auth') is not null as there,
      to_regclass('auth.users') is not null and to_regclass('auth.schema_migrations') is not null as supabase,
      to_regclass('auth.users') is not null and to_regclass('private.signing_keys') is not null as ours`
  if (row?.supabase) return 'supabase'
  if (row?.ours) return 'us'
  if (!row?.there) return 'nobody'
  throw new OperatorError(
    'The database has a schema "auth" that is not Supabase\'s: give this server a database of its own.',
  )
}
