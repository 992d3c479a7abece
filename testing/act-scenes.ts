import type { Locator, Page } from 'playwright-core'

import type { ActName } from '../src/client/desk/calls.ts'
import type { Sql } from '../src/server/database/sql.ts'
import { getDesk } from './desk-page.ts'
import { releaseDrafts } from './letters.ts'
import { withoutPauses } from './pauses.ts'

/** An act on its screen. The one applicant, Ada, was accepted, has the letter, and has a draft. */
export interface Scene {
  /** Adds further rows to the database. */
  before?: (sql: Sql) => Promise<unknown>
  /** Its address, with `:id` for the applicant's id. */
  path: string
  /** Opens the part of the page that contains its button. */
  open?: (page: Page) => Promise<unknown>
  /** A field's label and the text to type. The text must remain after a failure. */
  type?: readonly [label: string, text: string]
  button: (page: Page) => Locator
  /** The announcement after success. Blank if only the screen shows it. */
  done: string | RegExp
  /** The message after a failure. */
  fails: string
  /** The message when the outcome is unknown, if this act has its own. */
  uncertain?: string
  /** Whether it goes through the decision queue: the screen shows it at once, and retries last as long as those of a read. */
  isQueued?: true
  /** A query with one row for each time that it happened. */
  count: string
}

const pressed = (name: string) => (page: Page) => getDesk(page).button(name)
const press = (name: string) => (page: Page) => getDesk(page).button(name).click()
const happened = (kind: string, detail = '{}') =>
  `select from private.history where kind = '${kind}' and detail @> '${detail}'`
const withTravel = (sql: Sql) =>
  sql`insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`
const refused = (sql: Sql) =>
  releaseDrafts(sql, { state: 'failed', isRefused: true, attempts: 1, reply: '550 no such user' })
const byHand = (sql: Sql) => sql`update private.postman set seen_at = now() - interval '2 days'`

/** Every act. Add each new one here. */
export const scenes: Record<ActName, Scene> = {
  desk_decide: {
    path: '/applications/:id',
    open: withoutPauses,
    button: pressed('Waitlist'),
    done: 'Ada Lovelace: Waitlisted',
    fails: 'Ada Lovelace: “Waitlisted” was not saved.',
    uncertain: 'Ada Lovelace: “Waitlisted” was not confirmed.',
    isQueued: true,
    count: happened('status'),
  },
  desk_reveal: {
    before: (sql) => sql`update private.organisers set blind = true`,
    path: '/applications/:id',
    button: pressed('Reveal'),
    done: '',
    fails: 'Not revealed.',
    count: happened('revealed'),
  },
  desk_set_blind: {
    path: '/account',
    button: (page) => page.getByRole('switch', { name: 'Blind reading' }),
    done: 'Blind reading is on.',
    fails: 'Not switched.',
    count: happened('blind'),
  },
  desk_note: {
    path: '/applications/:id',
    type: ['Note', 'A strong one.'],
    button: pressed('Add note'),
    done: 'Note added',
    fails: 'Note not added.',
    count: happened('note'),
  },
  desk_erase: {
    path: '/applications/:id',
    open: press('Erase'),
    type: ['Type the email, ada@example.com', 'ada@example.com'],
    button: pressed('Erase for good'),
    done: 'Ada Lovelace: erased',
    fails: 'Not erased.',
    count: happened('erased'),
  },
  desk_set_door: {
    path: '/door',
    type: ['Sentence for applicants', 'We are full.'],
    button: pressed('Save'),
    done: 'Saved. The door is open.',
    fails: 'Not saved.',
    count: happened('door'),
  },
  desk_check_mail: {
    path: '/letters',
    button: pressed('Check the mail server'),
    done: 'Checking the mail server.',
    fails: 'Not checked.',
    count: `select from private.postman where check_wanted_at > '-infinity'`,
  },
  desk_send_test: {
    path: '/letters/templates/accepted',
    button: pressed('Send me a test'),
    done: 'A test is on the way to ada@example.org.',
    fails: 'No test was sent.',
    count: `select from private.deliveries where kind = 'test'`,
  },
  desk_set_notices: {
    path: '/account',
    button: (page) => page.getByLabel(/^One a day/),
    done: 'Saved.',
    fails: 'Not saved.',
    count: `select from private.organisers where notices = 'daily'`,
  },
  desk_set_template: {
    path: '/letters/templates/accepted',
    type: ['Subject', 'Come'],
    button: pressed('Save'),
    done: 'Template saved.',
    fails: 'Not saved.',
    count: happened('letters', '{"template": "accepted"}'),
  },
  desk_remove_template: {
    before: withTravel,
    path: '/letters/templates/Travel',
    open: press('Remove'),
    button: pressed('Remove for good'),
    done: 'Template removed: Travel',
    fails: 'Not removed.',
    count: happened('letters', '{"removed": "Travel"}'),
  },
  desk_set_letters: {
    path: '/letters',
    button: (page) => page.getByRole('switch', { name: 'Send a receipt to each applicant' }),
    done: 'Receipts are on.',
    fails: 'Not saved.',
    count: happened('letters', '{"receipts": true}'),
  },
  desk_stop: {
    path: '/letters',
    button: pressed('Stop all letters'),
    done: 'All letters are stopped.',
    fails: 'Letters are not stopped.',
    count: happened('letters', '{"stopped": true}'),
  },
  desk_write: {
    before: withTravel,
    path: '/applications/:id',
    open: (page) => page.getByLabel('Letter', { exact: true }).selectOption('Travel'),
    button: pressed('Draft from template'),
    done: 'Draft made',
    fails: 'Not drafted.',
    count: `select from private.letters where template = 'Travel'`,
  },
  desk_write_to: {
    path: '/applications/:id',
    async open(page) {
      await press('Write from scratch')(page)
      await page.getByLabel('Subject', { exact: true }).fill('One question')
    },
    type: ['Text', 'Do bees swim?'],
    button: pressed('Save draft'),
    done: 'Draft saved. Nothing has been sent.',
    fails: 'Draft not saved.',
    count: `select from private.letters where template is null`,
  },
  desk_edit: {
    path: '/letters/drafts/accepted',
    open: press('Edit: Ada Lovelace'),
    type: ['Subject', 'Come'],
    button: pressed('Save'),
    done: 'Ada Lovelace: changed',
    fails: 'Not saved.',
    count: `select from private.letters where subject = 'Come'`,
  },
  desk_discard: {
    path: '/letters/drafts/accepted',
    button: pressed('Remove: Ada Lovelace'),
    done: 'Ada Lovelace: draft removed',
    fails: 'Not removed.',
    count: `select where not exists (select from private.letters where state = 'draft')`,
  },
  desk_release: {
    path: '/letters/drafts/accepted',
    open: press('Send 1 letter'),
    button: (page) => getDesk(page).dialog.getByRole('button', { name: 'Send 1 letter' }),
    done: '1 letter on the way',
    fails: 'Not sent.',
    count: `select from private.deliveries where kind = 'letter'`,
  },
  desk_withdraw: {
    before: (sql) => releaseDrafts(sql, { dueIn: 600 }),
    path: '/letters',
    button: pressed('Stop 1 letter'),
    done: '1 letter stopped.',
    fails: 'Not stopped.',
    count: `select from private.deliveries where recalled_by is not null`,
  },
  desk_retry: {
    before: refused,
    path: '/letters/outbox/refused',
    button: pressed('Try again: Ada Lovelace'),
    done: 'Ada Lovelace: is tried again',
    fails: 'Not tried again.',
    count: `select from private.deliveries where kind = 'letter' and state = 'waiting'`,
  },
  desk_readdress: {
    before: refused,
    path: '/letters/outbox/refused',
    open: press('Send to another address: Ada Lovelace'),
    type: ['Address', 'ada@example.net'],
    button: pressed('Send there'),
    done: 'Ada Lovelace: on the way to ada@example.net',
    fails: 'Not sent.',
    count: happened('address'),
  },
  desk_settle: {
    before: refused,
    path: '/letters/outbox/refused',
    button: pressed('I told them another way: Ada Lovelace'),
    done: 'Ada Lovelace: told another way',
    fails: 'Not saved.',
    count: happened('told'),
  },
  desk_sent_by_hand: {
    before: byHand,
    path: '/letters/drafts/accepted',
    button: pressed('I sent it: Ada Lovelace'),
    done: 'Ada Lovelace: sent by hand',
    fails: 'Not noted.',
    count: `select from private.deliveries where by = 'hand'`,
  },
  desk_hand_over: {
    before: byHand,
    path: '/letters/drafts/accepted',
    button: pressed('Open in mail program: Ada Lovelace'),
    done: '',
    fails: 'Not opened.',
    count: happened('link'),
  },
  desk_set_places: {
    path: '/places',
    type: ['Places', '12'],
    button: pressed('Save'),
    done: /^Saved\. /,
    fails: 'Not saved.',
    count: happened('places'),
  },
  desk_remind: {
    path: '/places',
    button: pressed('Draft 1 reminder'),
    done: /^1 reminder drafted/,
    fails: 'No reminder drafted.',
    count: `select from private.letters where template = 'reminder'`,
  },
  desk_set_answer: {
    path: '/applications/:id',
    button: pressed('Coming'),
    done: 'Ada Lovelace: Coming',
    fails: 'Not saved.',
    count: happened('answer'),
  },
  desk_keep_until: {
    path: '/applications/:id',
    type: ['Deadline', '2999-12-31'],
    button: (page) => page.locator('.decisions-answer-edit').getByRole('button', { name: 'Save' }),
    done: /^Ada Lovelace: deadline/,
    fails: 'Not saved.',
    count: happened('kept'),
  },
}
