import type { Locator, Page } from 'playwright-core'

import type { ActName } from '../../src/client/desk/calls.ts'
import type { Sql } from '../../src/server/database/sql.ts'
import { getDesk } from './desk-page.ts'
import { releaseDrafts } from './letters.ts'
import { storeAnswers, storeQuestions } from './questions.ts'
import { disableBackOff } from './back-off.ts'

/** An act on its screen. The only applicant, Ada, is accepted, has received the letter, and has a new draft. */
export interface ActCase {
  /** Adds further rows to the database. */
  prepare?: (sql: Sql) => Promise<unknown>
  /** The address of the screen, with `:id` for the applicant's id. */
  path: string
  /** Opens the part of the page that contains the button, or prepares the page in another way. */
  openPart?: (page: Page) => Promise<unknown>
  /** A field's label and the text to type. The text must remain after a failure. */
  input?: readonly [label: string, text: string]
  button: (page: Page) => Locator
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

const buttonNamed = (name: string) => (page: Page) => getDesk(page).button(name)
const press = (name: string) => (page: Page) => getDesk(page).button(name).click()
const eventsOf = (kind: string, detail = '{}') =>
  `select from private.history where kind = '${kind}' and detail @> '${detail}'`
const storeTravelTemplate = (sql: Sql) =>
  sql`insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`
const storeRefusedLetter = (sql: Sql) =>
  releaseDrafts(sql, { state: 'failed', isRefused: true, attempts: 1, reply: '550 no such user' })
const addColleague = (sql: Sql) => sql`
  with account as (
    insert into auth.users (id, email) select gen_random_uuid(), 'grace@example.org'
    where not exists (select from auth.users where email = 'grace@example.org') returning id)
  insert into private.organisers (account_id) select id from account`
const askGuest = async (sql: Sql, question: Parameters<typeof storeQuestions>[1][number]) => {
  await sql`update private.invitations set rsvp = 'coming', rsvp_at = now()`
  return storeQuestions(sql, [question])
}
const endRetreat = async (sql: Sql) => {
  await sql`update private.editions set starts_on = '2024-03-12', ends_on = '2024-03-15'`
  await sql`update private.retention set months = 12, months_for_guests = 24`
}
const withoutMailSender = (sql: Sql) => sql`update private.postman set seen_at = now() - interval '2 days'`

/** All acts of the desk. Add each new act here. */
export const actCases: Record<ActName, ActCase> = {
  desk_decide: {
    path: '/applications/:id',
    openPart: disableBackOff,
    button: buttonNamed('Waitlist'),
    announcement: 'Ada Lovelace: Waitlisted',
    failure: 'Ada Lovelace: “Waitlisted” was not saved.',
    unconfirmed: 'Ada Lovelace: “Waitlisted” was not confirmed.',
    isQueued: true,
    query: eventsOf('status'),
  },
  desk_reveal: {
    prepare: (sql) => sql`update private.organisers set blind = true`,
    path: '/applications/:id',
    button: buttonNamed('Reveal'),
    announcement: '',
    failure: 'Not revealed.',
    query: eventsOf('revealed'),
  },
  desk_set_blind: {
    path: '/account',
    button: (page) => page.getByRole('switch', { name: 'Blind reading' }),
    announcement: 'Blind reading is on.',
    failure: 'Not switched.',
    query: eventsOf('blind'),
  },
  desk_set_reads_only: {
    prepare: addColleague,
    path: '/account',
    button: (page) => page.getByRole('switch', { name: 'I only read' }),
    announcement: 'You only read.',
    failure: 'Not switched.',
    query: 'select from private.organisers where reads_only',
  },
  desk_mark: {
    prepare: addColleague,
    path: '/applications/:id',
    input: ['Why, in a line', 'Warm.'],
    button: buttonNamed('Maybe'),
    announcement: 'Ada Lovelace: your mark is Maybe',
    failure: 'Mark not saved.',
    query: `select from private.marks where mark = 'maybe' and why = 'Warm.'`,
  },
  desk_note: {
    path: '/applications/:id',
    input: ['Note', 'A strong one.'],
    button: buttonNamed('Add note'),
    announcement: 'Note added',
    failure: 'Note not added.',
    query: eventsOf('note'),
  },
  desk_erase: {
    path: '/applications/:id',
    openPart: press('Erase'),
    input: ['Type the email, ada@example.com', 'ada@example.com'],
    button: buttonNamed('Erase for good'),
    announcement: 'Ada Lovelace: erased',
    failure: 'Not erased.',
    query: eventsOf('erased'),
  },
  desk_set_door: {
    path: '/door',
    input: ['Sentence for applicants', 'We are full.'],
    button: buttonNamed('Save'),
    announcement: 'Saved. The door is open.',
    failure: 'Not saved.',
    query: eventsOf('door'),
  },
  desk_check_mail: {
    path: '/letters',
    button: buttonNamed('Check the mail server'),
    announcement: 'Checking the mail server.',
    failure: 'Not checked.',
    query: `select from private.postman where check_wanted_at > '-infinity'`,
  },
  desk_send_test: {
    path: '/letters/templates/accepted',
    button: buttonNamed('Send me a test'),
    announcement: 'A test is on the way to ada@example.org.',
    failure: 'No test email was sent.',
    query: `select from private.deliveries where kind = 'test'`,
  },
  desk_set_notices: {
    path: '/account',
    button: (page) => page.getByLabel(/^One a day/),
    announcement: 'Saved.',
    failure: 'Not saved.',
    query: `select from private.organisers where notices = 'daily'`,
  },
  desk_set_template: {
    path: '/letters/templates/accepted',
    input: ['Subject', 'Come'],
    button: buttonNamed('Save'),
    announcement: 'Template saved.',
    failure: 'Not saved.',
    query: eventsOf('letters', '{"template": "accepted"}'),
  },
  desk_remove_template: {
    prepare: storeTravelTemplate,
    path: '/letters/templates/Travel',
    openPart: press('Remove'),
    button: buttonNamed('Remove for good'),
    announcement: 'Template removed: Travel',
    failure: 'Not removed.',
    query: eventsOf('letters', '{"removed": "Travel"}'),
  },
  desk_set_letters: {
    path: '/letters',
    button: (page) => page.getByRole('switch', { name: 'Send a receipt to each applicant' }),
    announcement: 'Receipts are on.',
    failure: 'Not saved.',
    query: eventsOf('letters', '{"receipts": true}'),
  },
  desk_stop: {
    path: '/letters',
    button: buttonNamed('Stop all letters'),
    announcement: 'All letters are stopped.',
    failure: 'Letters are not stopped.',
    query: eventsOf('letters', '{"stopped": true}'),
  },
  desk_write: {
    prepare: storeTravelTemplate,
    path: '/applications/:id',
    openPart: (page) => page.getByLabel('Letter', { exact: true }).selectOption('Travel'),
    button: buttonNamed('Draft from template'),
    announcement: 'Draft made',
    failure: 'Not drafted.',
    query: `select from private.letters where template = 'Travel'`,
  },
  desk_write_to: {
    path: '/applications/:id',
    async openPart(page) {
      await press('Write from scratch')(page)
      await page.getByLabel('Subject', { exact: true }).fill('One question')
    },
    input: ['Text', 'Do bees swim?'],
    button: buttonNamed('Save draft'),
    announcement: 'Draft saved. Nothing has been sent.',
    failure: 'Draft not saved.',
    query: `select from private.letters where template is null`,
  },
  desk_edit: {
    path: '/letters/drafts/accepted',
    openPart: press('Edit: Ada Lovelace'),
    input: ['Subject', 'Come'],
    button: buttonNamed('Save'),
    announcement: 'Ada Lovelace: changed',
    failure: 'Not saved.',
    query: `select from private.letters where subject = 'Come'`,
  },
  desk_discard: {
    path: '/letters/drafts/accepted',
    button: buttonNamed('Remove: Ada Lovelace'),
    announcement: 'Ada Lovelace: draft removed',
    failure: 'Not removed.',
    query: `select where not exists (select from private.letters where state = 'draft')`,
  },
  desk_release: {
    path: '/letters/drafts/accepted',
    openPart: press('Send 1 letter'),
    button: (page) => getDesk(page).dialog.getByRole('button', { name: 'Send 1 letter' }),
    announcement: '1 letter on the way',
    failure: 'Not sent.',
    query: `select from private.deliveries where kind = 'letter'`,
  },
  desk_withdraw: {
    prepare: (sql) => releaseDrafts(sql, { dueIn: 600 }),
    path: '/letters',
    button: buttonNamed('Stop 1 letter'),
    announcement: '1 letter stopped.',
    failure: 'Not stopped.',
    query: `select from private.deliveries where recalled_by is not null`,
  },
  desk_retry: {
    prepare: storeRefusedLetter,
    path: '/letters/outbox/refused',
    button: buttonNamed('Try again: Ada Lovelace'),
    announcement: 'Ada Lovelace: will be retried',
    failure: 'Not tried again.',
    query: `select from private.deliveries where kind = 'letter' and state = 'waiting'`,
  },
  desk_readdress: {
    prepare: storeRefusedLetter,
    path: '/letters/outbox/refused',
    openPart: press('Send to another address: Ada Lovelace'),
    input: ['Address', 'ada@example.net'],
    button: buttonNamed('Send there'),
    announcement: 'Ada Lovelace: on the way to ada@example.net',
    failure: 'Not sent.',
    query: eventsOf('address'),
  },
  desk_settle: {
    prepare: storeRefusedLetter,
    path: '/letters/outbox/refused',
    button: buttonNamed('I told them another way: Ada Lovelace'),
    announcement: 'Ada Lovelace: told another way',
    failure: 'Not saved.',
    query: eventsOf('told'),
  },
  desk_sent_by_hand: {
    prepare: withoutMailSender,
    path: '/letters/drafts/accepted',
    button: buttonNamed('I sent it: Ada Lovelace'),
    announcement: 'Ada Lovelace: sent by hand',
    failure: 'Not noted.',
    query: `select from private.deliveries where by = 'hand'`,
  },
  desk_hand_over: {
    prepare: withoutMailSender,
    path: '/letters/drafts/accepted',
    button: buttonNamed('Open in mail program: Ada Lovelace'),
    announcement: '',
    failure: 'Not opened.',
    query: eventsOf('link'),
  },
  desk_set_places: {
    path: '/places',
    input: ['Places', '12'],
    button: buttonNamed('Save'),
    announcement: /^Saved\. /,
    failure: 'Not saved.',
    query: eventsOf('places'),
  },
  desk_set_retreat: {
    path: '/places',
    input: ['Venue', 'Hof Sonnenau'],
    button: buttonNamed('Save retreat'),
    announcement: 'Saved. The retreat: days not set, Hof Sonnenau.',
    failure: 'Not saved.',
    query: eventsOf('places', '{"venue": "Hof Sonnenau"}'),
  },
  desk_remind: {
    path: '/places',
    button: buttonNamed('Draft 1 reminder'),
    announcement: /^1 reminder drafted/,
    failure: 'No reminder drafted.',
    query: `select from private.letters where template = 'reminder'`,
  },
  desk_set_answer: {
    path: '/applications/:id',
    button: buttonNamed('Coming'),
    announcement: 'Ada Lovelace: Coming',
    failure: 'Not saved.',
    query: eventsOf('answer'),
  },
  desk_set_questions: {
    path: '/questions',
    openPart: press('Add question'),
    input: ['Question', 'When do you arrive?'],
    button: buttonNamed('Save'),
    announcement: 'Saved. 1 question.',
    failure: 'Not saved.',
    query: eventsOf('questions', '{"questions": 1}'),
  },
  desk_answer_questions: {
    prepare: (sql) => askGuest(sql, { text: 'What do you not eat?' }),
    path: '/applications/:id',
    openPart: press('Enter answers'),
    input: ['What do you not eat?', 'Nuts'],
    button: buttonNamed('Save answers'),
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
    openPart: press('Erase them now'),
    button: buttonNamed('Erase for good'),
    announcement: '1 private answer erased.',
    failure: 'Not erased.',
    query: eventsOf('questions', '{"erased": 1}'),
  },
  desk_set_retention: {
    path: '/retention',
    input: ['Erase applications this many months after the retreat', '12'],
    button: buttonNamed('Save'),
    announcement:
      'Saved. Applications are kept for 12 months after the retreat, those of people who came until you erase them.',
    failure: 'Not saved.',
    query: eventsOf('retention', '{"months": 12}'),
  },
  desk_hold: {
    prepare: endRetreat,
    path: '/applications/:id',
    openPart: press('Keep'),
    input: ['Reason', 'Comes again next year'],
    button: buttonNamed('Keep it'),
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
    openPart: press('Erase the 1 due'),
    button: buttonNamed('Erase for good'),
    announcement: '1 application erased.',
    failure: 'Not erased.',
    query: eventsOf('retention', '{"erased": 1}'),
  },
  desk_begin_edition: {
    path: '/retreats',
    openPart: async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Spring 2028')
      await press('Begin retreat')(page)
    },
    button: buttonNamed('Begin now'),
    announcement: 'Spring 2028 has begun. Applications from now on belong to it.',
    failure: 'Not begun.',
    query: 'select from private.editions where id > 1',
  },
  desk_name_edition: {
    path: '/retreats',
    input: ['Name of first retreat', 'Autumn 2027'],
    button: buttonNamed('Save'),
    announcement: 'Name saved.',
    failure: 'Not saved.',
    query: eventsOf('edition', '{"name": "Autumn 2027", "is_renamed": true}'),
  },
  desk_keep_until: {
    path: '/applications/:id',
    input: ['Deadline', '2999-12-31'],
    button: (page) => page.locator('.decisions-answer-edit').getByRole('button', { name: 'Save' }),
    announcement: /^Ada Lovelace: deadline/,
    failure: 'Not saved.',
    query: eventsOf('kept'),
  },
}
