import { findAccount, lockAccount, type Account } from '../accounts/accounts.ts'
import { countWithinLimit, secondsBetweenEmails } from '../account-limits.ts'
import type { Challenge } from '../fields.ts'
import type { HttpError } from '../../http/errors.ts'
import { beginFlow } from '../proofs/pkce.ts'
import { message, type SignInEmail } from './messages.ts'
import { issue, lifetimes } from '../proofs/one-time.ts'
import { mailLink } from './links.ts'
import { tooManyEmails, tooSoon } from '../refusals.ts'
import { identifier, type Sql } from '../../database/connection/sql.ts'

/** The options of a request for an email. */
export interface EmailRequest {
  /** The challenge of a client that uses PKCE. */
  challenge: Challenge | undefined
  /** The page that the link redirects to. */
  target: URL | undefined
}

/**
 * Writes the email for a sign-in or a recovery, and issues its code and link. Undefined if the address has no account, or if the
 * account got ten emails within the hour.
 */
export async function signInEmail(
  transaction: Sql,
  site: URL,
  email: string,
  occasion: 'magiclink' | 'recovery',
  { challenge, target }: EmailRequest,
): Promise<SignInEmail | undefined> {
  const account = await findAndLockAccount(transaction, email)
  if (account === undefined || !(await countWithinLimit(transaction, account.id, 'mails'))) return undefined
  if (challenge !== undefined) await beginFlow(transaction, account.id, challenge, occasion)
  const { code, secret } = await issue(transaction, {
    accountId: account.id,
    type: 'recovery_token',
    address: email,
    lifetime: lifetimes.mail,
    offers: ['code', 'link'],
    isPkce: challenge !== undefined,
  })
  await transaction`update auth.users set recovery_sent_at = now() where id = ${account.id}`
  return message(occasion, {
    to: email,
    code,
    link: mailLink(site, { secret, type: occasion, target }),
  })
}

/** Finds an account by its address, and locks it. */
export async function findAndLockAccount(transaction: Sql, email: string): Promise<Account | undefined> {
  const account = await findAccount(transaction, { email })
  if (account === undefined) return undefined
  await lockAccount(transaction, account.id)
  // Read again, since the account may have changed before it was locked.
  return findAccount(transaction, { email })
}

/**
 * Begins to change the address of a locked account. Both addresses get an email, each with its own code and link. Call
 * `countEmails` first.
 */
export async function addressChangeEmails(
  transaction: Sql,
  site: URL,
  account: Account,
  newEmail: string,
  { challenge, target }: EmailRequest,
): Promise<SignInEmail[]> {
  const { id, email } = account
  if (challenge !== undefined) await beginFlow(transaction, id, challenge, 'email_change')
  await transaction`
    update auth.users set email_change = ${newEmail}, email_change_sent_at = now(), updated_at = now()
    where id = ${id}`
  const emails: SignInEmail[] = []
  for (const [type, to] of [
    ['email_change_token_current', email],
    ['email_change_token_new', newEmail],
  ] as const) {
    const isPkce = challenge !== undefined
    const { code, secret } = await issue(transaction, {
      accountId: id,
      type,
      address: to,
      lifetime: lifetimes.mail,
      offers: ['code', 'link'],
      isPkce,
    })
    const link = mailLink(site, { secret, type: 'email_change', target })
    emails.push(message('email_change', { to, code, link, change: { from: email, to: newEmail } }))
  }
  return emails
}

/** The email with a code for a signed-in person. The account has to be locked. Call `countEmails` first. */
export async function reauthenticationEmail(transaction: Sql, account: Account): Promise<SignInEmail> {
  const { id, email } = account
  const { code } = await issue(transaction, {
    accountId: id,
    type: 'reauthentication_token',
    address: email,
    lifetime: lifetimes.mail,
    offers: ['code'],
  })
  await transaction`update auth.users set reauthentication_sent_at = now() where id = ${id}`
  return message('reauthentication', { to: email, code })
}

/** The number of emails that each occasion sends, and the column with the time when the last ones were sent. */
const occasions = {
  email_change: { count: 2, sentAt: 'email_change_sent_at' },
  reauthentication: { count: 1, sentAt: 'reauthentication_sent_at' },
}

/**
 * Counts the emails of a request. The account has to be locked, so that only one of two concurrent requests sends emails.
 *
 * @returns The refusal, if the last emails for this occasion were sent within a minute, or the account would get more than
 *   ten within the hour.
 */
export async function countEmails(
  transaction: Sql,
  { id }: Account,
  occasion: keyof typeof occasions,
): Promise<HttpError | undefined> {
  const { count, sentAt } = occasions[occasion]
  // A later time is from before the clock was set back.
  const [row] = await transaction<{ seconds_left: number }[]>`
    select ceil(extract(epoch from ${identifier(sentAt)} - now()))::int + ${secondsBetweenEmails} as seconds_left
    from auth.users where id = ${id} and ${identifier(sentAt)} <= clock_timestamp()`
  if (row && row.seconds_left > 0) return tooSoon(row.seconds_left)
  return (await countWithinLimit(transaction, id, 'mails', count)) ? undefined : tooManyEmails()
}
