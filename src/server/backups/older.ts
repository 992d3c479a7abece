import { olderTables } from './manifest.ts'
import { migrations } from '../database/migrations.ts'
import type { Sql } from '../database/sql.ts'

/** Tables of older versions, with the columns that they had at last. Their rows have other tables now. */
const shapes: Record<string, string> = {
  'private.webhook_outbox': `
    application_id uuid, attempts integer, next_attempt_at timestamptz, delivered_at timestamptz, last_status integer,
    waits_since timestamptz, queued_at timestamptz, last_answer text`,
  'private.answer_outbox': `
    id uuid, answer_id bigint, application_id uuid, attempts integer, next_attempt_at timestamptz, waits_since timestamptz,
    queued_at timestamptz, last_answer text`,
  'private.acceptances': `
    application_id uuid, token uuid, is_accepted boolean, told_at timestamptz, kept_until date, answer text,
    answered_at timestamptz, is_deadline_set boolean`,
}

/** Makes the tables of older versions for the time of a restore. */
export async function makeOlderTables(transaction: Sql): Promise<void> {
  for (const [name, columns] of Object.entries(shapes)) {
    await transaction.unsafe(`create table ${name} (${columns})`)
  }
}

/** Moves their rows to where the migration moved those of a database, and takes them away. */
export async function emptyOlderTables(transaction: Sql): Promise<void> {
  const step = /\n-- What goes where\..*\n([^]*?)\n-- So far what goes where\.\n/
  for (const { sql } of migrations) {
    const [, statements] = step.exec(sql) ?? []
    if (statements !== undefined) await transaction.unsafe(statements)
  }
  await transaction.unsafe(`drop table ${olderTables.join(', ')}`)
}

/**
 * Invites the accepted people of a backup that is older than invitations: their next letter has a link. When a status was set, and
 * who was told, is in the history and in the letters.
 */
export async function inviteAccepted(transaction: Sql): Promise<void> {
  await transaction`
    update private.statuses as standing set set_at = decided.at
    from (select application_id, max(at) as at from private.history where kind = 'status' group by 1) as decided
    where decided.application_id = standing.application_id`
  await transaction`
    insert into private.invitations (application_id, is_accepted, told_at)
    select application_id, coalesce(status = 'accepted', false), case when told.occasion = 'accepted' then told.at end
    from private.statuses full join (
      select distinct on (application_id) application_id, occasion, coalesce(sent_at, withdrawn_at, released_at) as at
      from private.letters as letter
      where (state = 'sent' or uncertain > 0) and private.is_decision(occasion) and private.is_to_applicant(letter)
      order by application_id, 3 desc
    ) as told using (application_id)
    where status = 'accepted' or told.occasion = 'accepted'
    on conflict do nothing`
}
