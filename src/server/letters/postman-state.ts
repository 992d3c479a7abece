import type { Sql } from '../database/sql.ts'

/**
 * Keeps all letters for a while. The while is longer each time, until a letter is sent.
 *
 * @param problem The reason, for organisers, without any applicant's address.
 * @returns Whether this call did so: a call that meets the same problem meanwhile changes nothing.
 */
export async function backOffAll(sql: Sql, problem: string): Promise<boolean> {
  const { count } = await sql`
    update private.postman
    set failures = failures + 1, problem = ${problem}, failing_since = coalesce(failing_since, now()),
      paused_until = now() + private.mail_back_off(failures + 1)
    where paused_until <= now() or paused_until > clock_timestamp() + private.mail_back_off(failures)`
  return count > 0
}

/** Records what became of a mail that is no letter. A failure delays no letters: their own tries do that. */
export async function recordOtherMail(sql: Sql, isAccepted: boolean): Promise<void> {
  if (isAccepted) await sql`select private.clear_mail_problem()`
  else await sql`update private.postman set failing_since = now() where failing_since is null`
}

/** Stops all letters, or lets them leave again. Each can then be stopped at the desk for a minute. */
export async function setStopped(sql: Sql, stopped: boolean): Promise<void> {
  await sql`select private.stop_letters(${stopped}, 'operator')`
}
