import type { Break } from './break.ts'

/** Deliberate breaks of the promises about letters and RSVPs. */
export const letters: readonly Break[] = [
  {
    promise: 'No letter is sent by accident.',
    effect: 'A letter is sent although its draft has changed since it was read',
    changedFile: 'supabase/schemas/14_desk_sending.sql',
    find: `      when text ->> 'seen' is distinct from sent.seen then 'changed'
`,
    replace: '',
    testFile: 'test/database/letters/letters.test.ts',
    testTitle:
      'a letter that changed after it was read, or that quotes a blank form answer, cannot be released',
  },
  {
    promise: 'Another decision withdraws the letter about the earlier one.',
    effect: 'A letter for an earlier decision is sent',
    changedFile: 'supabase/schemas/12_drafts.sql',
    find: '  perform private.recall(to_recall);',
    replace: '',
    testFile: 'test/database/letters/letters.test.ts',
    testTitle:
      'a released letter is withdrawn by another decision, and drafted again when that decision is undone',
  },
  {
    promise: "An applicant's answers stay text.",
    effect: "A placeholder in an applicant's answer becomes their link",
    changedFile: 'supabase/schemas/06_answers.sql',
    find: "'{ ', 'g')",
    replace: "'{', 'g')",
    testFile: 'test/database/guests/places.test.ts',
    testTitle:
      "a placeholder in an applicant's text is not filled in; without a site the link's paragraph is left out",
  },
  {
    promise: 'Emails fetch nothing',
    effect: 'A letter loads a picture, which reveals who opened it',
    changedFile: 'src/server/mail/compose.ts',
    find: "${paragraphs.join('')}</body>",
    replace: `\${paragraphs.join('')}<img src="https://example.org/"></body>`,
    testFile: 'src/server/mail/compose.test.ts',
    testTitle:
      'an email’s HTML has the paragraphs and lines of its text, and nothing that is loaded or linked',
  },
  {
    promise: 'Strangers get little email through the form.',
    effect: 'A mailbox gets a receipt for each spelling of its address',
    changedFile: 'supabase/schemas/16_receipts.sql',
    find: "when domain = 'gmail.com' then replace(parts[1], '.', '')",
    replace: "when domain = 'gmail.com' then parts[1]",
    testFile: 'test/database/letters/receipts.test.ts',
    testTitle:
      'a mailbox gets one receipt a day, in any spelling of its address, and an unknown mailbox gets none',
  },
  {
    promise: '**Notices** keep to the same rule of names',
    effect: 'A notice contains any text that a stranger entered as a name',
    changedFile: 'supabase/schemas/16_receipts.sql',
    find: "]+')) <= 4",
    replace: "]+')) <= 40",
    testFile: 'src/server/letters/notices.test.ts',
    testTitle: 'a notice leaves out the parts of a name that could be a message or a link',
  },
  {
    promise: '**The log** names letters by their ids',
    effect: "The log has the mail server's reply to a letter",
    changedFile: 'src/server/letters/mail-sender.ts',
    find: `      code: result.code,
      milliseconds:`,
    replace: `      ...result,
      milliseconds:`,
    testFile: 'src/server/letters/mail-sender.test.ts',
    testTitle: 'a letter that is refused at %s is not retried, and the reply is saved but not logged',
  },
  {
    promise: 'nobody answers without the letter',
    effect: 'The link of an acceptance that was undone still accepts an RSVP',
    changedFile: 'supabase/schemas/20_rsvps.sql',
    find: 'where is_accepted and invitation.token',
    replace: 'where invitation.token',
    testFile: 'test/database/guests/places.test.ts',
    testTitle: 'a wrong link and one that is no longer valid get the same response',
  },
  {
    promise: 'nobody answers by opening a letter',
    effect: "Opening a letter's link gives an RSVP",
    changedFile: 'src/pages/answer/respond.ts',
    find: 'callBackend(reading, (signal) => readInvitation(backend, ownToken, signal))',
    replace: "callBackend(reading, (signal) => sendRsvp(backend, ownToken, 'coming', newActId(), signal))",
    testFile: 'test/browser/answer.test.ts',
    testTitle:
      'a client that opens a link, runs the page’s script and follows the page’s links gives no RSVP',
  },
  {
    promise: 'no organiser, table or stored letter has a token',
    effect: 'A stored letter contains the link',
    changedFile: 'supabase/schemas/13_desk_drafts.sql',
    find: 'text := private.filled(template.subject, template.body, application_row, blind);',
    replace: `text := private.filled(template.subject, template.body, application_row, blind);
    text := text || jsonb_build_object('body', (private.fill_at_handover(application_row.id, text ->> 'subject', text ->> 'body')).body);`,
    testFile: 'test/database/guests/places.test.ts',
    testTitle:
      'an acceptance gets its link and deadline when it is handed to the mail server, and the desk never shows the link',
  },
  {
    promise: 'each RSVP is kept once, and the newest counts',
    effect: 'A repeated request stores an RSVP again, over a newer RSVP',
    changedFile: 'supabase/schemas/05_acts.sql',
    find: '  return false;',
    replace: '  return true;',
    testFile: 'test/database/guests/places.test.ts',
    testTitle: 'organisers record RSVPs that people gave another way, and the newest RSVP counts',
  },
  {
    promise: 'an RSVP cannot be changed endlessly',
    effect: 'An RSVP can be changed without a limit',
    changedFile: 'supabase/schemas/20_rsvps.sql',
    find: `  ) >= 20 then
    raise exception 'There were too many changes.`,
    replace: `  ) >= 2000 then
    raise exception 'There were too many changes.`,
    testFile: 'test/database/guests/places.test.ts',
    testTitle: 'an RSVP is changed at most twenty times an hour',
  },
  {
    promise: 'only people who are coming read the days and the venue',
    effect: 'The holder of any link reads the venue',
    changedFile: 'supabase/schemas/20_rsvps.sql',
    find: "case when rsvp = 'coming' then private.retreat(edition) end",
    replace: 'private.retreat(edition)',
    testFile: 'test/database/retreat/retreat.test.ts',
    testTitle:
      'people who are coming read the days and the venue, also after the deadline, and nobody else does',
  },
  {
    promise: 'a venue or a name in a file for calendars stays text',
    effect: 'A line end in a venue begins another property',
    changedFile: 'src/application/calendar.ts',
    find: '[\\p{Cc}\\u2028\\u2029]+',
    replace: '[\\t\\u2028\\u2029]+',
    testFile: 'src/application/calendar.test.ts',
    testTitle: 'a name or a venue stays text: %j',
  },
  {
    promise: "only guests are asked, and only the guest's own link answers",
    effect: 'Everybody with a link can answer the questions to guests',
    changedFile: 'supabase/schemas/20_rsvps.sql',
    find: "'questions', case when rsvp = 'coming' then (",
    replace: "'questions', case when true then (",
    testFile: 'test/database/guests/questions.test.ts',
    testTitle:
      'only guests are asked: not people without an RSVP, people who cannot come, or people without the link',
  },
  {
    promise: 'a private answer is read by organisers alone',
    effect: 'The link shows a private answer',
    changedFile: 'supabase/schemas/20_questions.sql',
    find: "'answer', case when shows_private or not is_private then answer end",
    replace: "'answer', answer",
    testFile: 'test/database/guests/questions.test.ts',
    testTitle:
      'the link never shows a private answer, and blind readers, the exported table and the webhook do not get it',
  },
  {
    promise: 'private answers are erased on the day that guests were told, and not earlier',
    effect: 'A clock that jumps ahead for one day erases private answers',
    changedFile: 'supabase/schemas/20_announcements.sql',
    find: '\n      and days >= private.days_to_announce(announcements)',
    replace: '',
    testFile: 'test/database/guests/questions.test.ts',
    testTitle: 'a clock that jumps ahead, and back again, erases nothing',
  },
  {
    promise: 'private answers are erased on the day that guests were told, and not earlier',
    effect: 'A restore brings private answers back that were erased after the backup',
    changedFile: 'src/server/backups/restore.ts',
    find: 'where private.answer_digest(given) = any(${[...erased]}::text[])',
    replace: 'where ${[...erased]}::text[] is null',
    testFile: 'src/server/backups/restore.test.ts',
    testTitle:
      'a restore erases private answers again that were erased after the backup, but not those that were given again',
  },
  {
    promise: 'a private answer is read by organisers alone',
    effect: 'The stamp of an application depends on private answers, which a blind reader can guess',
    changedFile: 'supabase/schemas/06_one_application.sql',
    find: 'jsonb_build_array(question_id, answered_at)',
    replace: 'jsonb_build_array(question_id, answer, answered_at)',
    testFile: 'test/database/guests/questions.test.ts',
    testTitle:
      'the link never shows a private answer, and blind readers, the exported table and the webhook do not get it',
  },
  {
    promise: 'no application is erased automatically before organisers could keep it',
    effect: 'A clock that jumps after six announcements makes that day the seventh',
    changedFile: 'supabase/schemas/20_announcements.sql',
    find: 'then 8 else 7 end',
    replace: 'then 7 else 7 end',
    testFile: 'test/database/privacy/retention.test.ts',
    testTitle:
      'a day to which the clock jumped is no seventh day of announcement, and a server that was off for days erases later',
  },
  {
    promise: 'no application is erased automatically before organisers could keep it',
    effect: 'A clock that jumps after six announcements erases what was not announced',
    changedFile: 'supabase/schemas/20_announcements.sql',
    find: 'select least(until, today) into erasable_until',
    replace: 'select today into erasable_until',
    testFile: 'test/database/privacy/retention.test.ts',
    testTitle: 'a clock that jumps ahead, and back again, erases nothing that was not announced',
  },
  {
    promise: 'confirmations flood nobody',
    effect: 'Each change to “coming” sends another confirmation',
    changedFile: 'supabase/schemas/22_confirmations.sql',
    find: "queued_at > now() - interval '1 hour'",
    replace: "queued_at > now() + interval '1 hour'",
    testFile: 'test/database/letters/confirmations.test.ts',
    testTitle: 'a person gets at most one confirmation an hour, however often they change their mind',
  },
]
