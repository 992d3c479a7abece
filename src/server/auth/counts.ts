import { createHash } from 'node:crypto'
import type { TransactionSql } from 'postgres'

import type { Run } from '../database/lanes.ts'
import { HttpError } from '../http/errors.ts'

/** What is counted for an account, from wherever it comes: how much of it, and within how many seconds. */
const limits = {
  mails: { most: 10, seconds: 3600 },
  'factor guesses': { most: 10, seconds: 900 },
}

/** Seconds between two mails of one kind to one address. */
export const mailPause = 60
/** Addresses whose last request is remembered; beyond that, the oldest are forgotten sooner. */
const mostRemembered = 20_000

/**
 * Counts something for an account.
 *
 * @param times How often it happens now.
 * @returns Whether it is within the limit. What is beyond is counted too.
 */
export async function isWithin(
  transaction: TransactionSql,
  accountId: string,
  what: keyof typeof limits,
  times = 1,
): Promise<boolean> {
  const { most, seconds } = limits[what]
  const [row] = await transaction<{ count: number }[]>`
    insert into private.account_counts as counts (user_id, what, count) values (${accountId}, ${what}, ${times})
    on conflict (user_id, what) do update set
      count = case when counts.began < now() - make_interval(secs => ${seconds}) then 0 else counts.count end
        + excluded.count,
      began = case when counts.began < now() - make_interval(secs => ${seconds}) then now() else counts.began end
    returning count`
  return (row?.count ?? 0) <= most
}

/** Begins to count anew. */
export async function forgive(
  transaction: TransactionSql,
  accountId: string,
  what: keyof typeof limits,
): Promise<void> {
  await transaction`delete from private.account_counts where user_id = ${accountId} and what = ${what}`
}

/**
 * Takes the one mail that an address may ask for within a minute, whether it has an account or not.
 *
 * @throws {HttpError} with 429 for the second.
 */
export async function takeMailTurn(run: Run, address: string): Promise<void> {
  const hash = createHash('sha256').update(address).digest()
  const seconds = await run(async (sql) => {
    const taken = await sql`
      insert into private.mail_requests as requests (address_hash) values (${hash})
      on conflict (address_hash) do update set requested_at = now()
      where requests.requested_at <= now() - make_interval(secs => ${mailPause})
      returning true`
    if (taken.length > 0) return undefined
    const [row] = await sql<{ left: number }[]>`
      select ceil(extract(epoch from requested_at - now()))::int + ${mailPause} as left
      from private.mail_requests where address_hash = ${hash}`
    return Math.max(row?.left ?? 1, 1)
  })
  if (seconds !== undefined) throw tooSoon(seconds)
}

/** Forgets who asked more than a minute ago, and the oldest of too many. */
export async function forgetMailTurns(run: Run): Promise<void> {
  await run(
    (sql) => sql`
      delete from private.mail_requests where address_hash in (
        select address_hash from private.mail_requests
        where requested_at < greatest(
          now() - make_interval(secs => ${mailPause}),
          (select requested_at from private.mail_requests order by requested_at desc offset ${mostRemembered} limit 1)
        )
        for update skip locked
      )`,
  )
}

/** The refusal of a mail that is asked for too soon after the last one. */
export function tooSoon(seconds: number): HttpError {
  return new HttpError(
    429,
    'over_email_send_rate_limit',
    `For security purposes, you can only request this after ${seconds} seconds.`,
  )
}

/** The refusal of a mail too many. */
export function tooManyMails(): HttpError {
  return new HttpError(429, 'over_email_send_rate_limit', 'email rate limit exceeded')
}
