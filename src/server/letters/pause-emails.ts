import type { Sql } from '../database/connection/sql.ts'

/**
 * Backs off: delays all queued emails by a time that grows with each failure, until the mail server accepts an email.
 *
 * @param problem The reason, for organisers, without any applicant's address.
 * @returns Whether this call backed off. A concurrent call for the same problem changes nothing.
 */
export async function backOffAll(sql: Sql, problem: string): Promise<boolean> {
  const [row] = await sql<[{ isFirst: boolean }]>`select private.back_off_mails(${problem}) as "isFirst"`
  return row.isFirst
}

/** Records the result of a sign-in email, which is not queued. An accepted one ends a back-off, and a failed one begins none. */
export async function recordOtherMail(sql: Sql, isAccepted: boolean): Promise<void> {
  if (isAccepted) await sql`select private.clear_mail_problem()`
  else await sql`update private.postman set failing_since = now() where failing_since is null`
}

/**
 * Stops or resumes all queued emails, and decisions to an automation. After a resume, organisers can still stop each letter at
 * the desk for a minute.
 */
export async function setStopped(sql: Sql, stopped: boolean): Promise<void> {
  await sql`select private.stop_letters(${stopped}, 'operator')`
}
