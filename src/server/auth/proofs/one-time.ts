import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

import { codeOf } from '../../../application/digits.ts'
import { lockAccount } from '../accounts/accounts.ts'
import { advisoryLocks } from '../../database/connection/advisory-locks.ts'
import { identifier, type Sql } from '../../database/connection/sql.ts'

/**
 * The purpose of a code or link, as `auth.one_time_tokens` names it. Sign-in emails and recovery emails have `recovery_token`,
 * and the operator's links have `confirmation_token`.
 */
export type TokenType =
  | 'confirmation_token'
  | 'recovery_token'
  | 'reauthentication_token'
  | 'email_change_token_current'
  | 'email_change_token_new'

/** The lifetimes, in seconds, of an email's code and link, of a link that the operator creates, and of an invitation. */
export const lifetimes = { mail: 600, operator: 3600, invitation: 24 * 3600 }

/** The number of digits of a code. */
const digits = 6
/** The number of rows in `private.decoys`, see `redeemCode`. Their `relates_to` are numbers from 0. */
const decoyCount = 64
/** Wrong tries after which a code is invalid. */
const maxTries = 5
/** The wrong tries of an account's codes of one type. From this number on, an email with a link has no code until a sign-in. */
const maxTriesInTotal = 5 * maxTries

/** A code or a link that was redeemed. */
export interface RedeemedToken {
  accountId: string
  type: TokenType
}

/** The request for a code or a link. */
interface Issue {
  accountId: string
  type: TokenType
  /** The email address that the code or link is sent to. */
  address: string
  /** In seconds. */
  lifetime: number
  offers: readonly ('code' | 'link')[]
  /** Whether the link is for a client that uses PKCE. */
  isPkce?: boolean
}

/**
 * Creates a six-digit code and, independently, the secret of a link. They replace the account's earlier code and link of
 * this type. The account has to be locked. After too many wrong tries, an email with a link gets no code: otherwise a
 * stranger could request code after code and keep guessing.
 *
 * @returns The code, undefined if there is none, and the secret, which is valid only if `offers` has `link`.
 */
export async function issue(
  transaction: Sql,
  { accountId, type, address, lifetime, offers, isPkce = false }: Issue,
): Promise<{ code: string | undefined; secret: string }> {
  const code = String(randomInt(10 ** digits)).padStart(digits, '0')
  const secret = `${isPkce ? 'pkce_' : ''}${randomBytes(32).toString('hex')}`
  const tokenHash = offers.includes('link') ? digest(secret) : null
  const codeHash = offers.includes('code') ? codeDigest(address, code) : null
  const [issued] = await transaction<{ has_code: boolean }[]>`
    insert into auth.one_time_tokens as tokens (user_id, token_type, relates_to, token_hash, code_hash, expires_at)
    values (
      ${accountId}, ${type}, ${address}, ${tokenHash}, ${codeHash}, now() + make_interval(secs => ${lifetime})
    )
    on conflict (user_id, token_type) do update set
      relates_to = excluded.relates_to, token_hash = excluded.token_hash,
      code_hash = case when tokens.wrong_codes_in_all < ${maxTriesInTotal} or ${tokenHash}::text is null then excluded.code_hash end,
      expires_at = excluded.expires_at, wrong_codes = 0, created_at = now()
    returning code_hash is not null as has_code`
  return { code: issued?.has_code ? code : undefined, secret }
}

/** A code that may be the right one, or a decoy. */
interface Candidate {
  id: string
  user_id: string
  token_type: TokenType
  code_hash: string
  /** The table that has this row. */
  table_name: string
}

/**
 * Redeems a code, and locks its account. A wrong code counts as a try of each valid code of the address and these types.
 * After five wrong tries a code is invalid, and its email's link stays valid. Commit the transaction even if the code is
 * wrong, since it counts the try. For an address without a valid code, a decoy is read and written instead, which takes as long.
 *
 * @param address The address that the code was sent to, in lower case.
 */
export async function redeemCode(
  transaction: Sql,
  address: string,
  types: readonly TokenType[],
  code: string,
): Promise<RedeemedToken | undefined> {
  // Serialises guesses for one address.
  await transaction`select pg_advisory_xact_lock(${advisoryLocks.guess}, hashtext(${address}))`
  const isValid = transaction`
    relates_to = ${address} and code_hash is not null and wrong_codes < ${maxTries} and expires_at > now()
      and token_type = any(${types})`
  const rows = await transaction<Candidate[]>`
    select id, user_id, token_type, code_hash, 'auth.one_time_tokens' as table_name from auth.one_time_tokens where ${isValid}
    union all
    select id, user_id, token_type, code_hash, 'private.decoys' from private.decoys
    where relates_to = ${decoyOf(address)} and not exists (select from auth.one_time_tokens where ${isValid})`
  const triedHash = Buffer.from(codeDigest(address, codeOf(code)))
  const matching = rows.find(({ code_hash: hash }) => timingSafeEqual(Buffer.from(hash), triedHash))
  if (matching === undefined) {
    await transaction`
      update ${identifier(rows[0]?.table_name ?? 'private.decoys')} set wrong_codes = wrong_codes + 1, wrong_codes_in_all = wrong_codes_in_all + 1
      where id = any(${rows.map(({ id }) => id)})`
    return undefined
  }
  await lockAccount(transaction, matching.user_id)
  const [row] = await transaction`
    update auth.one_time_tokens set ${cleared(transaction)} where id = ${matching.id} and code_hash = ${matching.code_hash}
    returning true`
  return row && { accountId: matching.user_id, type: matching.token_type }
}

/** Redeems the secret of a link, and locks its account. */
export async function redeemSecret(
  transaction: Sql,
  types: readonly TokenType[],
  secret: string,
): Promise<RedeemedToken | undefined> {
  await transaction`
    select from auth.users where id in (select user_id from auth.one_time_tokens where token_hash = ${digest(secret)})
    for update`
  const [row] = await transaction<{ user_id: string; token_type: TokenType }[]>`
    update auth.one_time_tokens set ${cleared(transaction)}
    where token_hash = ${digest(secret)} and token_type = any(${types}) and expires_at > now()
    returning user_id, token_type`
  return row && { accountId: row.user_id, type: row.token_type }
}

/** Ends all codes and links of an account. */
export async function endTokens(transaction: Sql, accountId: string): Promise<void> {
  await transaction`update auth.one_time_tokens set ${cleared(transaction)} where user_id = ${accountId}`
}

/** Resets the number of wrong codes after a sign-in. */
export async function resetWrongCodes(transaction: Sql, accountId: string): Promise<void> {
  await transaction`update auth.one_time_tokens set wrong_codes_in_all = 0 where user_id = ${accountId}`
}

/** The SQL assignments that clear a redeemed token, but not its number of wrong tries. */
function cleared(transaction: Sql) {
  return transaction`token_hash = null, code_hash = null`
}

/**
 * The `relates_to` of an address's decoy. Each guess for an address writes the same row, as for a real code: writing a row again
 * takes longer than writing a different one.
 */
function decoyOf(address: string) {
  return String(Number.parseInt(digest(address).slice(0, 8), 16) % decoyCount)
}

function digest(text: string) {
  return createHash('sha256').update(text).digest('hex')
}

/** Hashes a code, which hides it only from a glance: a reader of the table can try all million codes until the code expires. */
function codeDigest(address: string, code: string) {
  return digest(`${address} ${code}`)
}
