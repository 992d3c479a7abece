import type { Fragment, Sql, TransactionSql } from 'postgres'

/** The pace of all servers together: milliseconds between two letters; none where there is no pace. */
export type Pause = number | undefined

/** Milliseconds that a letter may be late without those after it being so. */
const slack = 200

/** Receipts and notices that are begun in an hour, by all servers together. */
const hourlyTotal = 100

/** How long everything is kept after so many failures in a row. */
function keptFor(sql: Sql, failures: Fragment) {
  return sql`(array[5, 15, 60, 300, 600])[greatest(1, least(${failures}, 5))] * interval '1 second'`
}

/**
 * Whether something may be handed over. What lies further ahead than it is ever set was set before the clock was set
 * back, and holds up nothing.
 */
export function isOpen(sql: Sql, pause: Pause) {
  const isFar = (moment: Fragment, most: Fragment) => sql`${moment} > clock_timestamp() + ${most}`
  const kept = isFar(sql`paused_until`, keptFor(sql, sql`failures`))
  const step = pause === undefined ? undefined : sql`${pause} * interval '1 millisecond'`
  return sql`
    not stopped and (paused_until <= now() or ${kept})
    ${step === undefined ? sql`` : sql`and (next_at <= now() or ${isFar(sql`next_at`, step)})`}`
}

/** Whether the hour in which receipts and notices are counted is over; also where it began later than now. */
const isNewHour = (sql: Sql) => sql`hour_began_at not between now() - interval '1 hour' and clock_timestamp()`

/** Whether the hour has room for a receipt or a notice. */
export const hasRoom = (sql: Sql) => sql`(in_hour < ${hourlyTotal} or ${isNewHour(sql)})`

/** How many claims there were. */
export async function countTurns(sql: Sql): Promise<string> {
  const [row] = await sql<[{ turns: string }]>`select turns from private.postman`
  return row.turns
}

/**
 * The turn to hand something over, if it is one; whoever has it holds it until the claim is made. Where somebody had a
 * turn since these were counted it is none: what they claimed could not be seen.
 */
export function turnOf(sql: Sql, pause: Pause, turns: string) {
  return sql`
    select ${hasRoom(sql)} as has_room from private.postman
    where turns = ${turns} and ${isOpen(sql, pause)}
    for update`
}

/**
 * Ends a turn.
 *
 * @param begun A query of what was claimed, with `counts`: whether it is one of the hour's receipts and notices.
 */
export function endOfTurn(sql: Sql, pause: Pause, begun: Fragment) {
  const isPaced = pause !== undefined
  return sql`
    update private.postman
    set turns = turns + 1, next_at = ${
      isPaced
        ? sql`least(greatest(next_at, now() - ${slack} * interval '1 millisecond'), now())
            + ${pause} * interval '1 millisecond'`
        : sql`next_at`
    },
      hour_began_at = case when counts and ${isNewHour(sql)} then now() else hour_began_at end,
      in_hour = case when not counts then in_hour when ${isNewHour(sql)} then 1 else in_hour + 1 end
    from (${begun}) as begun`
}

/**
 * Keeps all letters for a while, which is longer each time until one is sent.
 *
 * @param problem Why, for organisers: no applicant's address in it.
 * @returns Whether it was this call that did: whoever meets the same problem meanwhile adds nothing.
 */
export async function pauseAll(sql: Sql, problem: string): Promise<boolean> {
  const { count } = await sql`
    update private.postman
    set failures = failures + 1, problem = ${problem}, failing_since = coalesce(failing_since, now()),
      paused_until = now() + ${keptFor(sql, sql`failures + 1`)}
    where paused_until <= now() or paused_until > clock_timestamp() + ${keptFor(sql, sql`failures`)}`
  return count > 0
}

/**
 * Forgets what kept all letters.
 *
 * @param sent A query that has a row where a mail was taken.
 */
export function noProblem(sql: Sql | TransactionSql, sent: Fragment) {
  return sql`
    update private.postman
    set failures = 0, problem = '', failing_since = null, paused_until = least(paused_until, now())
    where (failures > 0 or problem <> '' or failing_since is not null) and exists (${sent})`
}

/** Lets no letter leave, or all of them again. */
export async function setStopped(sql: Sql, stopped: boolean): Promise<void> {
  await sql`
    with changed as (update private.postman set stopped = ${stopped} where stopped <> ${stopped} returning true)
    select private.write_down_letters('operator', jsonb_build_object('stopped', ${stopped}::boolean)) from changed`
}
