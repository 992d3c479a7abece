import type { Sql } from '../database/sql.ts'

/** The limits for an account, from any address: how many, and within how many seconds. */
const limits = {
  mails: { max: 10, seconds: 3600 },
  'factor guesses': { max: 10, seconds: 900 },
}

/** Seconds between two emails of one kind to one address. */
export const secondsBetweenEmails = 60

/**
 * Counts something for an account.
 *
 * @param times How often it happens now.
 * @returns Whether the count is within the limit. Anything beyond the limit counts too.
 */
export async function countWithinLimit(
  transaction: Sql,
  accountId: string,
  what: keyof typeof limits,
  times = 1,
): Promise<boolean> {
  const { max: most, seconds } = limits[what]
  const [row] = await transaction<{ count: number }[]>`
    insert into private.account_counts as counts (user_id, what, count) values (${accountId}, ${what}, ${times})
    on conflict (user_id, what) do update set
      count = case when counts.began < now() - make_interval(secs => ${seconds}) then 0 else counts.count end
        + excluded.count,
      began = case when counts.began < now() - make_interval(secs => ${seconds}) then now() else counts.began end
    returning count`
  return (row?.count ?? 0) <= most
}

/** Resets the count to zero. */
export async function resetCount(
  transaction: Sql,
  accountId: string,
  what: keyof typeof limits,
): Promise<void> {
  await transaction`delete from private.account_counts where user_id = ${accountId} and what = ${what}`
}
