import type { Sql } from '../../src/server/database/connection/sql.ts'
import type { Applicants, Organiser } from './applicants.ts'
import { storeLetter } from './letters.ts'
import { storeAnswers, storeQuestions } from './questions.ts'

/**
 * Stores two applications of one guest, Ada Lovelace, with a note, a letter and a private answer, and the application of somebody
 * else.
 *
 * @returns The id of the newer one of the guest's.
 */
export async function storeGuest(desk: Applicants & { sql: Sql; ada: Organiser }): Promise<string> {
  const { sql } = desk
  const answers = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' }
  const stored = await desk.store([
    answers,
    { ...answers, reason: 'To think again.' },
    { first_name: 'Alan' },
  ])
  const id = stored[0]?.id ?? ''
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  await sql`
    update private.invitations set told_at = now(), deadline = private.today() + 10, rsvp = 'coming', rsvp_at = now()`
  const [question = ''] = await storeQuestions(sql, [{ text: 'Whom do we call?', is_private: true }])
  await storeAnswers(sql, id, { [question]: 'Mary' })
  await storeLetter(sql, id, {
    template: 'Travel',
    state: 'done',
    subject: 'How to get there',
    body: 'By train: {{answer_link}}',
    reply: '250 OK',
    attempts: 1,
  })
  await desk.ada.client
    .rpc('desk_note', { act: crypto.randomUUID(), application: id, note: 'Met in Lisbon.' })
    .throwOnError()
  return id
}

/**
 * Stores something of every kind about a guest, Émile Lovelace: marks, a note, an RSVP, a draft, a receipt, and a letter that was
 * sent to another address.
 */
export async function storeExamplesAboutGuest(sql: Sql): Promise<void> {
  const guest = `
    select id from public.retreat_applications join private.invitations on application_id = id
    where rsvp = 'coming' and first_name = 'Émile' and last_name = 'Lovelace' limit 1`
  await sql.unsafe(`
    insert into private.history (application_id, at, author, kind, detail)
      select id, moment, author, kind, detail from (${guest}) as guest, (values
        (now() - interval '8 days', 'grace@example.org', 'status', '{"status": "accepted", "former": "new"}'::jsonb),
        (now() - interval '8 days', 'grace@example.org', 'note', '{"note": "Met in Lisbon. Asks good questions."}'),
        (now() - interval '7 days', 'tim@example.org', 'address', '{"address": "emile@example.net", "occasion": "accepted"}'),
        (now() - interval '6 days', 'applicant', 'answer', '{"answer": "coming"}')
      ) as happened (moment, author, kind, detail);
    insert into private.marks (application_id, account_id, author, mark, why, at)
      select id, gen_random_uuid(), author, mark, why, now() - age from (${guest}) as guest, (values
        ('grace@example.org', 'yes', 'Warm, and clear.', interval '10 days'),
        ('tim@example.org', 'maybe', '', interval '9 days')) as given (author, mark, why, age);
    insert into private.addresses select id, 'emile@example.net' from (${guest}) as guest;
    update private.letters set state = 'released', drafted_at = now() - interval '8 days'
      where application_id = (${guest}) and template = 'accepted';
    insert into private.letters (application_id, template, subject, body, drafted_at)
      select id, null, 'Your cello', E'Hello Émile,\\n\\nThere is a dry corner for it.', now() - interval '5 days' from (${guest}) as guest;
    insert into private.deliveries (kind, application_id, letter_id, subject, body, state, author, act, queued_at, due_at, tried_at,
        done_at, attempts, reply, mailbox)
      select kind, guest.id, letter, subject, body, state, author, gen_random_uuid(), now() - age,
        case state when 'waiting' then now() end, now() - age, case state when 'done' then now() - age end, attempts, reply, mailbox
      from (${guest}) as guest, lateral (select id as letter from private.letters where application_id = guest.id and template = 'accepted')
        as letter, (values
        ('receipt', 'We have your application', E'Hello Émile,\\n\\nThank you for applying.', 'done', null, interval '9 days', 1,
          '250 OK', 'p1@example.com'),
        ('letter', 'Your place at Unplugged', E'Hello Émile,\\n\\nYou can say so here: {{answer_link}}', 'done', 'grace@example.org',
          interval '7 days', 2, '250 2.0.0 OK', null)
      ) as sent (kind, subject, body, state, author, age, attempts, reply, mailbox)`)
}
