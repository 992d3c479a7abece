import type { Sql } from '../database/connection/sql.ts'

/** The limits of an account, for all IP addresses together: the highest count, and the seconds until the count restarts. */
const limits = {
  mails: { max: 10, seconds: 3600 },
  'factor guesses': { max: 10, seconds: 900 },
  invitations: { max: 20, seconds: 3600 },
}

/** Seconds between two emails of one kind to one address. */
export const secondsBetweenEmails = 60

/**
 * Raises a count of an account.
 *
 * @param times The number to add.
 * @returns Whether the new count is within the limit. The count rises beyond the limit, too.
 */
export async function countWithinLimit(
  transaction: Sql,
  accountId: string,
  what: keyof typeof limits,
  times = 1,
): Promise<boolean> {
  const { max, seconds } = limits[what]
  const isOver = transaction`not private.happened_within(counts.began, make_interval(secs => ${seconds}))`
  const [row] = await transaction<{ count: number }[]>`
    insert into private.account_counts as counts (user_id, what, count) values (${accountId}, ${what}, ${times})
    on conflict (user_id, what) do update set
      count = case when ${isOver} then 0 else counts.count end + excluded.count,
      began = case when ${isOver} then now() else counts.began end
    returning count`
  return (row?.count ?? 0) <= max
}

/** Resets the count to zero. */
export async function resetCount(
  transaction: Sql,
  accountId: string,
  what: keyof typeof limits,
): Promise<void> {
  await transaction`delete from private.account_counts where user_id = ${accountId} and what = ${what}`
}
