import { findAccount } from './accounts.ts'
import { codeExpired, emailExists } from '../refusals.ts'
import type { Sql } from '../../database/connection/sql.ts'

/** The result of the first of two confirmations. */
export type HalfDone = 'half done'

/** A change of address that both addresses confirmed. */
export interface AddressChange {
  from: string
  to: string
}

/**
 * Records one of the two confirmations of a change of address, after its code or link was redeemed. The account has to be locked.
 *
 * @throws {HttpError} if no change is pending, or another account got the new address meanwhile.
 */
export async function confirmChange(transaction: Sql, accountId: string): Promise<AddressChange | HalfDone> {
  // While the link of the other address is stored, that address has not confirmed the change.
  const [unconfirmed] = await transaction`
    select from auth.one_time_tokens
    where user_id = ${accountId} and token_type in ('email_change_token_current', 'email_change_token_new')
      and token_hash is not null`
  if (unconfirmed !== undefined) return 'half done'
  const account = await findAccount(transaction, { id: accountId })
  const email = account?.email_change
  if (!email) throw codeExpired()
  if (await findAccount(transaction, { email })) throw emailExists()
  await transaction`
    update auth.users set email = ${email}, email_change = null, email_change_sent_at = null, updated_at = now()
    where id = ${accountId}`
  await transaction`
    update auth.identities set updated_at = now(),
      identity_data = identity_data || jsonb_build_object('email', ${email}::text, 'email_verified', true)
    where user_id = ${accountId} and provider = 'email'`
  return { from: account.email, to: email }
}
