import type { Sql } from '../../database/connection/sql.ts'

/** A row of `auth.users`, with its identities and factors. */
export interface Account {
  id: string
  aud: string
  role: string
  email: string
  encrypted_password: string | null
  email_confirmed_at: Date | null
  recovery_sent_at: Date | null
  reauthentication_sent_at: Date | null
  email_change: string | null
  email_change_sent_at: Date | null
  last_sign_in_at: Date | null
  raw_app_meta_data: Record<string, unknown>
  raw_user_meta_data: Record<string, unknown>
  created_at: Date
  updated_at: Date
  identities: Identity[]
  factors: Factor[]
}

/** A way to identify an account. Our accounts have one: their email address. */
interface Identity {
  id: string
  provider_id: string
  user_id: string
  identity_data: { email?: string } & Record<string, unknown>
  provider: string
  last_sign_in_at: string | null
  created_at: string
  updated_at: string
}

/** A second factor as clients may see it. */
interface Factor {
  id: string
  friendly_name: string
  factor_type: string
  status: 'unverified' | 'verified'
  last_challenged_at: string | null
  created_at: string
  updated_at: string
}

/** Finds an account by id or by lower-case email address. */
export async function findAccount(
  sql: Sql,
  by: { id: string } | { email: string },
): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`
    select users.*,
      coalesce(
        (select jsonb_agg(to_jsonb(each) order by created_at) from auth.identities as each where user_id = users.id), '[]'
      ) as identities,
      coalesce(
        (select jsonb_agg(to_jsonb(each) - 'secret' order by created_at)
          from auth.mfa_factors as each where user_id = users.id), '[]'
      ) as factors
    from auth.users as users where ${'id' in by ? sql`id = ${by.id}` : sql`email = ${by.email}`}`
  return account
}

/**
 * Locks an account until the transaction ends. Every change of an account locks it first, so that two changes cannot deadlock. A
 * refresh of tokens is the exception: it locks only its session.
 */
export async function lockAccount(transaction: Sql, id: string): Promise<void> {
  await transaction`select from auth.users where id = ${id} for update`
}

/** Whether the account has a verified second factor. Its sessions then need `aal2` (a second factor) for protected calls. */
export function hasSecondFactor({ factors }: Account): boolean {
  return factors.some(({ status }) => status === 'verified')
}

/** An account as clients see it: GoTrue's user. */
export function userOf(account: Account): Record<string, unknown> {
  const present = Object.entries({
    email_confirmed_at: account.email_confirmed_at,
    confirmed_at: account.email_confirmed_at,
    recovery_sent_at: account.recovery_sent_at,
    reauthentication_sent_at: account.reauthentication_sent_at,
    new_email: account.email_change,
    email_change_sent_at: account.email_change_sent_at,
    last_sign_in_at: account.last_sign_in_at,
  }).filter(([, value]) => value !== null)
  const factors = account.factors.map(factorOf)
  return {
    id: account.id,
    aud: account.aud,
    role: account.role,
    email: account.email,
    phone: '',
    ...Object.fromEntries(present),
    app_metadata: account.raw_app_meta_data,
    user_metadata: account.raw_user_meta_data,
    identities: account.identities.map(identityOf),
    ...(factors.length === 0 ? {} : { factors }),
    created_at: account.created_at,
    updated_at: account.updated_at,
    is_anonymous: false,
  }
}

function identityOf({ id, provider_id, identity_data, last_sign_in_at, ...rest }: Identity) {
  const signedIn = last_sign_in_at === null ? {} : { last_sign_in_at }
  return { identity_id: id, id: provider_id, identity_data, ...signedIn, ...rest, email: identity_data.email }
}

function factorOf({
  id,
  friendly_name,
  factor_type,
  status,
  last_challenged_at,
  created_at,
  updated_at,
}: Factor) {
  const name = friendly_name === '' ? {} : { friendly_name }
  return { id, created_at, updated_at, status, ...name, factor_type, phone: null, last_challenged_at }
}
