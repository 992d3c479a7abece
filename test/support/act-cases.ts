import type { ActName } from '../../src/client/desk/calls.ts'
import { addOrganiser } from '../../src/server/auth/manage-organisers.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import type { Applicants } from './applicants.ts'
import { releaseDrafts } from './letters.ts'
import { storeAnswers, storeQuestions } from './questions.ts'

/** A button, or another control that does an act when it is pressed. */
export interface Control {
  role: 'button' | 'checkbox' | 'radio' | 'switch'
  name: string | RegExp
  /** The dialog or region that contains it, if its name is not unique. */
  within?: { role: 'dialog' | 'region'; name: string }
}

/** A step before an act: a button to press, a text to type into a field, or an option to choose. */
export type Step = { press: string } | { field: string; text: string } | { field: string; option: string }

/** An act on its screen. The only applicant, Ada, is accepted, has received the letter, and has a new draft. */
export interface ActCase {
  /** Adds further rows to the database. */
  prepare?: (sql: Sql) => Promise<unknown>
  /** The address of the screen, with `:id` for the applicant's id. */
  path: string
  /** Opens the part of the screen that contains the control. */
  before?: readonly Step[]
  /** A field's label and the text to type. The text must remain after a failure. */
  input?: readonly [label: string, text: string]
  /** The control, or the name of the button. */
  press: Control | string
  /** The announcement after success. Blank if the act is not announced. */
  announcement: string | RegExp
  /** The message after a failure. */
  failure: string
  /** The message when the outcome is unknown, if this act has its own. */
  unconfirmed?: string
  /**
   * Whether the decision queue sends the act. The screen then shows the act at once. If it fails, it is retried as many times as a
   * call that only reads.
   */
  isQueued?: true
  /** A query with one row for each time that the act was done. */
  query: string
}

/** The control of an act. */
export function controlOf({ press }: ActCase): Control {
  return typeof press === 'string' ? { role: 'button', name: press } : press
}

/**
 * Stores what an act needs: an accepted applicant, who was told and has a draft. The history is empty, a server sends emails, and the
 * retreat has a time zone.
 *
 * @returns The applicant's id.
 */
export async function prepareAct(
  desk: Pick<Applicants, 'store' | 'setStatus'> & { readonly sql: Sql },
  { prepare }: Pick<ActCase, 'prepare'> = {},
): Promise<string> {
  await desk.sql`update private.postman set seen_at = now()`
  await desk.sql`update private.places set zone = 'UTC'`
  const [stored] = await desk.store([{ first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' }])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  await desk.sql`update private.invitations set told_at = now() - interval '10 days', deadline = private.today() + 10`
  await desk.sql`delete from private.history`
  await prepare?.(desk.sql)
  return stored?.id ?? ''
}

const eventsOf = (kind: string, detail = '{}') =>
  `select from private.history where kind = '${kind}' and detail @> '${detail}'`
const storeTravelTemplate = (sql: Sql) =>
  sql`insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`
const storeRefusedLetter = (sql: Sql) =>
  releaseDrafts(sql, { state: 'failed', isRefused: true, attempts: 1, reply: '550 no such user' })
const askGuest = async (sql: Sql, question: Parameters<typeof storeQuestions>[1][number]) => {
  await sql`update private.invitations set rsvp = 'coming', rsvp_at = now()`
  return storeQuestions(sql, [question])
}
const endRetreat = async (sql: Sql) => {
  await sql`update private.editions set starts_on = '2024-03-12', ends_on = '2024-03-15'`
  await sql`update private.retention set months = 12, months_for_guests = 24`
}
const withoutMailSender = (sql: Sql) => sql`update private.postman set seen_at = now() - interval '2 days'`

/** All acts of the desk that somebody presses. Add each new act here. */
export const actCases: Record<Exclude<ActName, 'desk_see_notes'>, ActCase> = {
  desk_decide: {
    path: '/applications/:id',
    press: 'Waitlist',
    announcement: 'Ada Lovelace: Waitlisted',
    failure: 'Ada Lovelace: “Waitlisted” was not saved.',
    unconfirmed: 'Ada Lovelace: “Waitlisted” was not confirmed.',
    isQueued: true,
    query: eventsOf('status'),
  },
  desk_reveal: {
    prepare: (sql) => sql`update private.organisers set blind = true`,
    path: '/applications/:id',
    press: 'Reveal',
    announcement: '',
    failure: 'Not revealed.',
    query: eventsOf('revealed'),
  },
  desk_set_blind: {
    path: '/account',
    press: { role: 'switch', name: 'Blind reading' },
    announcement: 'Blind reading is on.',
    failure: 'Not switched.',
    query: eventsOf('blind'),
  },
  desk_set_name: {
    path: '/account',
    input: ['Your name', 'Grace'],
    press: 'Save name',
    announcement: 'Name saved.',
    failure: 'Not saved.',
    query: `select from private.organisers where name = 'Grace'`,
  },
  desk_set_reads_only: {
    path: '/account',
    press: { role: 'switch', name: 'I don’t mark applications' },
    announcement: 'You don’t mark applications.',
    failure: 'Not switched.',
    query: 'select from private.organisers where reads_only',
  },
  desk_remove_organiser: {
    prepare: (sql) => addOrganiser(sql, 'grace@example.org'),
    path: '/account',
    before: [{ press: 'Remove: grace@example.org' }],
    press: 'Remove grace@example.org',
    announcement: 'grace@example.org was removed.',
    failure: 'Not removed.',
    query: eventsOf('organiser', '{"organiser": "grace@example.org", "is_removed": true}'),
  },
  desk_set_reader: {
    path: '/account',
    press: { role: 'switch', name: 'bob@example.org may only read' },
    announcement: 'bob@example.org may read, mark and write notes.',
    failure: 'Not switched.',
    query: eventsOf('organiser', '{"organiser": "bob@example.org", "is_reader": true}'),
  },
  desk_mark: {
    path: '/applications/:id',
    input: ['Reason (one line)', 'Warm.'],
    press: 'Maybe',
    announcement: 'Ada Lovelace: your mark is Maybe',
    failure: 'Mark not saved.',
    query: `select from private.marks where mark = 'maybe' and why = 'Warm.'`,
  },
  desk_note: {
    path: '/applications/:id',
    input: ['Note', 'A strong one.'],
    press: 'Add note',
    announcement: 'Note added',
    failure: 'Note not added.',
    query: eventsOf('note'),
  },
  desk_add: {
    path: '/',
    before: [{ press: 'Add a person' }, { field: 'First name', text: 'Grace' }],
    input: ['Email', 'grace@example.com'],
    press: { role: 'button', name: 'Add', within: { role: 'dialog', name: 'Add a person' } },
    announcement: 'Grace: added',
    failure: 'Not added.',
    query: eventsOf('added'),
  },
  desk_erase: {
    path: '/applications/:id',
    before: [{ press: 'Erase' }],
    input: ['Type the email, ada@example.com', 'ada@example.com'],
    press: 'Erase for good',
    announcement: 'Ada Lovelace: erased',
    failure: 'Not erased.',
    query: eventsOf('erased'),
  },
  desk_set_page: {
    path: '/page',
    input: ['Title', 'Slow'],
    press: 'Save',
    announcement: 'Saved.',
    failure: 'Not saved.',
    query: eventsOf('page'),
  },
  desk_set_door: {
    path: '/door',
    input: ['Sentence for applicants', 'We are full.'],
    press: 'Save',
    announcement: 'Saved. The door is open.',
    failure: 'Not saved.',
    query: eventsOf('door'),
  },
  desk_check_mail: {
    path: '/letters',
    press: 'Check the mail server',
    announcement: 'Checking the mail server.',
    failure: 'Not checked.',
    query: `select from private.postman where check_wanted_at > '-infinity'`,
  },
  desk_send_test: {
    path: '/letters/templates/accepted',
    press: 'Send me a test',
    announcement: 'A test is on the way to ada@example.org.',
    failure: 'No test email was sent.',
    query: `select from private.deliveries where kind = 'test'`,
  },
  desk_set_notices: {
    path: '/account',
    press: { role: 'radio', name: /^One a day/ },
    announcement: 'Saved.',
    failure: 'Not saved.',
    query: `select from private.organisers where notices = 'daily'`,
  },
  desk_set_template: {
    path: '/letters/templates/accepted',
    input: ['Subject', 'Come'],
    press: 'Save',
    announcement: 'Template saved.',
    failure: 'Not saved.',
    query: eventsOf('letters', '{"template": "accepted"}'),
  },
  desk_remove_template: {
    prepare: storeTravelTemplate,
    path: '/letters/templates/Travel',
    before: [{ press: 'Remove' }],
    press: 'Remove for good',
    announcement: 'Template removed: Travel',
    failure: 'Not removed.',
    query: eventsOf('letters', '{"removed": "Travel"}'),
  },
  desk_set_letters: {
    path: '/letters',
    press: { role: 'switch', name: 'Send a receipt to each applicant' },
    announcement: 'Receipts are on.',
    failure: 'Not saved.',
    query: eventsOf('letters', '{"receipts": true}'),
  },
  desk_stop: {
    path: '/letters',
    press: 'Stop all letters',
    announcement: 'All letters are stopped.',
    failure: 'Letters are not stopped.',
    query: eventsOf('letters', '{"stopped": true}'),
  },
  desk_write: {
    prepare: storeTravelTemplate,
    path: '/applications/:id',
    before: [{ field: 'Letter', option: 'Travel' }],
    press: 'Draft from template',
    announcement: 'Draft made',
    failure: 'Not drafted.',
    query: `select from private.letters where template = 'Travel'`,
  },
  desk_write_to: {
    path: '/applications/:id',
    before: [{ press: 'Write from scratch' }, { field: 'Subject', text: 'One question' }],
    input: ['Text', 'Do bees swim?'],
    press: 'Save draft',
    announcement: 'Draft saved. Nothing has been sent.',
    failure: 'Draft not saved.',
    query: `select from private.letters where template is null`,
  },
  desk_edit: {
    path: '/letters/drafts/accepted',
    before: [{ press: 'Edit: Ada Lovelace' }],
    input: ['Subject', 'Come'],
    press: 'Save',
    announcement: 'Ada Lovelace: changed',
    failure: 'Not saved.',
    query: `select from private.letters where subject = 'Come'`,
  },
  desk_discard: {
    path: '/letters/drafts/accepted',
    press: 'Remove: Ada Lovelace',
    announcement: 'Ada Lovelace: draft removed',
    failure: 'Not removed.',
    query: `select where not exists (select from private.letters where state = 'draft')`,
  },
  desk_release: {
    path: '/letters/drafts/accepted',
    before: [{ press: 'Send 1 letter' }],
    press: { role: 'button', name: 'Send 1 letter', within: { role: 'dialog', name: 'Send 1 letter?' } },
    announcement: '1 letter on the way',
    failure: 'Not sent.',
    query: `select from private.deliveries where kind = 'letter'`,
  },
  desk_withdraw: {
    prepare: (sql) => releaseDrafts(sql, { dueIn: 600 }),
    path: '/letters',
    press: 'Stop 1 letter',
    announcement: '1 letter stopped.',
    failure: 'Not stopped.',
    query: `select from private.deliveries where recalled_by is not null`,
  },
  desk_retry: {
    prepare: storeRefusedLetter,
    path: '/letters/outbox/refused',
    press: 'Try again: Ada Lovelace',
    announcement: 'Ada Lovelace: will be retried',
    failure: 'Not retried.',
    query: `select from private.deliveries where kind = 'letter' and state = 'waiting'`,
  },
  desk_readdress: {
    prepare: storeRefusedLetter,
    path: '/letters/outbox/refused',
    before: [{ press: 'Send to another address: Ada Lovelace' }],
    input: ['Address', 'ada@example.net'],
    press: 'Send there',
    announcement: 'Ada Lovelace: on the way to ada@example.net',
    failure: 'Not sent to ada@example.net.',
    query: eventsOf('address'),
  },
  desk_came_back: {
    prepare: (sql) => releaseDrafts(sql, { state: 'done' }),
    path: '/applications/:id',
    press: 'It came back: Ada Lovelace, Accepted',
    announcement: 'Ada Lovelace, Accepted: came back',
    failure: 'Not saved.',
    query: eventsOf('returned'),
  },
  desk_settle: {
    prepare: storeRefusedLetter,
    path: '/letters/outbox/refused',
    press: 'I told them another way: Ada Lovelace',
    announcement: 'Ada Lovelace: contacted another way',
    failure: 'Not saved.',
    query: eventsOf('told'),
  },
  desk_sent_by_hand: {
    prepare: withoutMailSender,
    path: '/letters/drafts/accepted',
    press: 'Mark as sent: Ada Lovelace',
    announcement: 'Ada Lovelace: sent by hand',
    failure: 'Not noted.',
    query: `select from private.deliveries where by = 'hand'`,
  },
  desk_hand_over: {
    prepare: withoutMailSender,
    path: '/letters/drafts/accepted',
    press: 'Open in mail program: Ada Lovelace',
    announcement: '',
    failure: 'Not opened.',
    query: eventsOf('link'),
  },
  desk_set_places: {
    path: '/retreat',
    input: ['Places', '12'],
    press: 'Save places',
    announcement: /^Saved\. /,
    failure: 'Not saved.',
    query: eventsOf('places'),
  },
  desk_tick_step: {
    path: '/first-steps',
    press: { role: 'checkbox', name: 'Read every template in full.' },
    announcement: 'Ticked.',
    failure: 'Not saved.',
    query: `select from private.first_steps where 'read' = any (ticked)`,
  },
  desk_set_retreat: {
    path: '/retreat',
    input: ['Venue', 'Hof Sonnenau'],
    press: 'Save retreat',
    announcement: 'Saved. The retreat: days not set, Hof Sonnenau.',
    failure: 'Not saved.',
    query: eventsOf('places', '{"venue": "Hof Sonnenau"}'),
  },
  desk_remind: {
    path: '/coming',
    press: 'Draft 1 reminder',
    announcement: /^1 reminder drafted/,
    failure: 'No reminder drafted.',
    query: `select from private.letters where template = 'reminder'`,
  },
  desk_set_answer: {
    path: '/applications/:id',
    press: 'Coming',
    announcement: 'Ada Lovelace: Coming',
    failure: 'Not saved.',
    query: eventsOf('answer'),
  },
  desk_set_questions: {
    path: '/questions',
    before: [{ press: 'Add question' }],
    input: ['Question', 'When do you arrive?'],
    press: 'Save',
    announcement: 'Saved. 1 question.',
    failure: 'Not saved.',
    query: eventsOf('questions', '{"questions": 1}'),
  },
  desk_answer_questions: {
    prepare: (sql) => askGuest(sql, { text: 'What do you not eat?' }),
    path: '/applications/:id',
    before: [{ press: 'Enter answers' }],
    input: ['What do you not eat?', 'Nuts'],
    press: 'Save answers',
    announcement: 'Ada Lovelace: answers saved',
    failure: 'Answers not saved.',
    query: eventsOf('questions', '{"changes": 1}'),
  },
  desk_erase_answers: {
    async prepare(sql) {
      const ids = await askGuest(sql, { text: 'Whom do we call?', is_private: true })
      const [application] = await sql<[{ id: string }]>`select id from public.retreat_applications`
      await storeAnswers(sql, application.id, { [ids[0] ?? '']: 'Mary' })
      await sql`update private.editions set starts_on = '2026-03-12', ends_on = '2026-03-15'`
    },
    path: '/questions',
    before: [{ press: 'Erase them now' }],
    press: 'Erase for good',
    announcement: '1 private answer erased.',
    failure: 'Not erased.',
    query: eventsOf('questions', '{"erased": 1}'),
  },
  desk_set_retention: {
    path: '/retention',
    input: ['Erase applications this many months after the retreat', '12'],
    press: 'Save',
    announcement:
      'Saved. Applications are kept for 12 months after the retreat, those of people who came until you erase them.',
    failure: 'Not saved.',
    query: eventsOf('retention', '{"months": 12}'),
  },
  desk_hold: {
    prepare: endRetreat,
    path: '/applications/:id',
    before: [{ press: 'Keep' }],
    input: ['Reason', 'Wants to apply again next year'],
    press: 'Keep it',
    announcement: 'Ada Lovelace: kept',
    failure: 'Not saved.',
    query: eventsOf('hold'),
  },
  desk_erase_due: {
    async prepare(sql) {
      await endRetreat(sql)
      await sql`update public.retreat_applications set created_at = '2024-03-01'`
    },
    path: '/retention',
    before: [{ press: 'Erase 1 application' }],
    press: 'Erase for good',
    announcement: '1 application erased.',
    failure: 'Not erased.',
    query: eventsOf('retention', '{"erased": 1}'),
  },
  desk_begin_edition: {
    path: '/retreats',
    before: [{ field: 'Name', text: 'Spring 2028' }, { press: 'Begin retreat' }],
    press: 'Begin now',
    announcement: 'Spring 2028 has begun. Applications from now on belong to it.',
    failure: 'Not started.',
    query: 'select from private.editions where id > 1',
  },
  desk_name_edition: {
    path: '/retreats',
    input: ['Name of first retreat', 'Autumn 2027'],
    press: 'Save name: First retreat',
    announcement: 'Name saved.',
    failure: 'Not saved.',
    query: eventsOf('edition', '{"name": "Autumn 2027", "is_renamed": true}'),
  },
  desk_keep_until: {
    path: '/applications/:id',
    input: ['Deadline', '2999-12-31'],
    press: 'Save deadline',
    announcement: /^Ada Lovelace: deadline/,
    failure: 'Not saved.',
    query: eventsOf('kept'),
  },
}
