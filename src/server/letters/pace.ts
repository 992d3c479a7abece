import type { Sql, Template } from '../database/sql.ts'

/** The pace of all servers together: milliseconds between two letters; not set where there is no pace. */
export type Pause = number | undefined

/** Milliseconds by which a letter may be late without delaying the letters after it. */
const slack = 200

/** The most receipts and notices that all servers together begin in an hour. */
const hourlyTotal = 100

/** How long all letters are kept after a number of failures in a row. */
function keptFor(sql: Sql, failures: Template) {
  return sql`(array[5, 15, 60, 300, 600])[greatest(1, least(${failures}, 5))] * interval '1 second'`
}

/**
 * Whether something may be handed over. A time further ahead than it is ever set is from before the clock was set back, and
 * delays nothing.
 */
export function isOpen(sql: Sql, pause: Pause) {
  const isFar = (moment: Template, most: Template) => sql`${moment} > clock_timestamp() + ${most}`
  const kept = isFar(sql`paused_until`, keptFor(sql, sql`failures`))
  const step = pause === undefined ? undefined : sql`${pause} * interval '1 millisecond'`
  return sql`
    not stopped and (paused_until <= now() or ${kept})
    ${step === undefined ? sql`` : sql`and (next_at <= now() or ${isFar(sql`next_at`, step)})`}`
}

/** Whether the hour in which receipts and notices are counted is over, or began later than now. */
const isNewHour = (sql: Sql) => sql`hour_began_at not between now() - interval '1 hour' and clock_timestamp()`

/** Whether the hour has room for a receipt or a notice. */
export const hasRoom = (sql: Sql) => sql`(in_hour < ${hourlyTotal} or ${isNewHour(sql)})`

/** How many claims there were. */
export async function countTurns(sql: Sql): Promise<string> {
  const [row] = await sql<[{ turns: string }]>`select turns from private.postman`
  return row.turns
}

/**
 * Takes the turn to hand something over, if it is free, and holds it until the claim is made. It is not given where another
 * server had a turn since the turns were counted, since its claim could not be seen.
 */
export function turnOf(sql: Sql, pause: Pause, turns: string) {
  return sql`
    select ${hasRoom(sql)} as has_room from private.postman
    where turns = ${turns} and ${isOpen(sql, pause)}
    for update`
}

/**
 * Ends a turn, and gives how many there were with it.
 *
 * @param begun A query of what was claimed, with `counts`: whether it is one of the hour's receipts and notices.
 */
export function endOfTurn(sql: Sql, pause: Pause, begun: Template) {
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
    from (${begun}) as begun
    returning turns::text`
}

/**
 * Keeps all letters for a while. The while is longer each time, until a letter is sent.
 *
 * @param problem The reason, for organisers, without any applicant's address.
 * @returns Whether this call did so: a call that meets the same problem meanwhile changes nothing.
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
 * Forgets the problem that kept all letters.
 *
 * @param sent A query that has a row where a mail was taken.
 */
export function noProblem(sql: Sql, sent: Template) {
  return sql`
    update private.postman
    set failures = 0, problem = '', failing_since = null, paused_until = least(paused_until, now())
    where (failures > 0 or problem <> '' or failing_since is not null) and exists (${sent})`
}

/** Records what became of a mail that is no letter. A failure delays no letters: their own tries do that. */
export async function recordOtherMail(sql: Sql, isAccepted: boolean): Promise<void> {
  if (isAccepted) await noProblem(sql, sql`select`)
  else await sql`update private.postman set failing_since = now() where failing_since is null`
}

/** Stops all letters, or lets them leave again. */
export async function setStopped(sql: Sql, stopped: boolean): Promise<void> {
  await sql`
    with changed as (update private.postman set stopped = ${stopped} where stopped <> ${stopped} returning true)
    select private.write_down_letters('operator', jsonb_build_object('stopped', ${stopped}::boolean)) from changed`
}
