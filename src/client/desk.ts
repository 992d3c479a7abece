import type { Application } from '../application/application.ts'
import type { Made } from '../application/csv.ts'
import type { Answer, AnswerState, Status } from '../application/statuses.ts'
import type { CallFunction } from './rpc.ts'

/** What applications are asked for; what is left out lets all of them through. */
export interface Filter {
  status?: Status | undefined
  search?: string | undefined
  /** A blank one asks for those that did not answer. */
  team_size?: Application['team_size'] | undefined
  paid_solution?: Application['paid_solution'] | undefined
  /** Of those who are accepted; `no answer` lets through who is late, too. */
  answer?: AnswerState | undefined
  /** The first moment, and the first one that is too late, as ISO 8601 has them. */
  since?: string | undefined
  until?: string | undefined
  /** Which come first; left out, the newest do. It changes where something stands, and not what is let through. */
  order?: 'oldest' | undefined
}

/** Whether somebody comes; all null where they are not accepted. */
export interface AnswerShown {
  answer_state: AnswerState | null
  answer: Answer | null
  answered_at: string | null
  /** The last day on which they can answer, as `2026-12-31`. */
  kept_until: string | null
}

/** Where a list goes on. */
export interface Position {
  created_at: string
  id: string
}

/** What blind reading leaves out. */
type Hidden = 'first_name' | 'last_name' | 'email' | 'phone' | 'linkedin' | 'company'

/** What organisers made of an application, and whether they come. */
interface Standing extends AnswerShown {
  id: string
  created_at: string
  status: Status
  /** Counts the decisions: whoever decides says which one they saw. */
  version: number
  /** Whether the same e-mail applied again. */
  same_email: boolean
}

type Seen<Given> = Omit<Given, Hidden> & Partial<Pick<Given, Hidden & keyof Given>>

/** An application in a list: of the reason its first line. */
export type Listed = Standing & Seen<Omit<Application, 'phone' | 'linkedin' | 'custom_solution' | 'consent'>>

/** A whole application, or, read blind, without what is hidden. */
export type Read = Standing & Seen<Application>

/** What whoever acts on it has to know of an application. */
export type Selected = Pick<Standing, 'id' | 'status' | 'version'> &
  Partial<Pick<Application, 'first_name' | 'last_name'>>

/** An application in a table, with what organisers made of it. */
export type Exported = Read & Made

export interface Page<Item> {
  applications: Item[]
  /** Where the next page begins, which may be needed though this one is short or empty; null at the end. */
  next: Position | null
}

/** A page of the list, and what became of the letters of those in it, the oldest first. */
export interface ListPage extends Page<Listed> {
  letters: LetterState[]
}

/** What became of a list while it stood on a screen. */
interface Meanwhile {
  /** Rows whose status is another one now. */
  changed: Pick<Standing, 'id' | 'status' | 'version'>[]
  /** Rows that were erased. */
  gone: string[]
  /** What became of the letters of all rows, the oldest first. */
  letters: LetterState[]
  /** How it stands with the answers, by the ids of those that are, or were, accepted. */
  answers: Record<string, AnswerShown>
  /** How many the filter lets through that are not shown and are newer than all that are, and how many others. */
  newer: number
  older: number
  /** Whether there may be more of these. */
  more: boolean
}

/** A number that was not counted further than a thousand. */
export interface Count {
  count: number
  more: boolean
}

/** How the applications are made up that a filter lets through: the newest thousand of them. */
export interface Overview extends Count {
  /** Of each status, whatever status the filter asks for. */
  counts: Record<Status | 'all', Count>
  /** By the day, as `2026-12-31`. */
  days: Record<string, number>
  team_size: Partial<Record<Application['team_size'], number>>
  paid_solution: Partial<Record<Application['paid_solution'], number>>
}

/** Something that an organiser did to an application. */
export type Happening = { act: string; at: string; author: string } & (
  | { kind: 'status'; detail: { status: Status; former: Status } }
  | { kind: 'note'; detail: { note: string } }
  | { kind: 'revealed'; detail: object }
  /** Letters go to another address from then on; which one is hidden from who reads blind. */
  | { kind: 'address'; detail: { address?: string } }
  /** What a letter was to say that did not arrive was told otherwise. */
  | { kind: 'told'; detail: Pick<Letter, 'occasion' | 'way'> }
  /** The author is `applicant` where they answered themselves; null where an organiser noted that there is none. */
  | { kind: 'answer'; detail: { answer: Answer | null } }
  /** Until which day the place is kept. */
  | { kind: 'kept'; detail: { until: string } }
  /** The link on which they answer was given to the author's mail program, in a letter of this occasion. */
  | { kind: 'link'; detail: Pick<Letter, 'occasion'> }
)

/** How the webhook's delivery stands. */
export interface Delivery {
  delivered_at: string | null
  attempts: number
  last_status: number | null
  next_attempt_at: string | null
}

/** One application and everything that is known of it. */
export interface Whole {
  application: Read
  /** The oldest first. */
  history: Happening[]
  /** None where nobody queued one. */
  delivery: Delivery | null
  /** Other applications of the same e-mail, the newest first; at most a hundred. */
  others: { id: string; created_at: string; company: string; status: Status }[]
}

/** Where an application stands in a list. */
export interface Place extends Count {
  /** From 1 on; null where the filter does not let it through, or where it stands behind the first thousand. */
  number: number | null
  /** Their ids; null where there is none. */
  previous: string | null
  next: string | null
}

/** An application as it is opened. */
export interface Opened extends Whole {
  /** The oldest first. */
  letters: Letter[]
  /** Another one whenever anything of it but its place is another. */
  stamp: string
  /** Null where no filter was given. */
  place: Place | null
}

/** A status that is to be set, and the version that whoever decides saw. */
export interface Decision {
  id: string
  status: Status
  version: number
  /** Whether it takes a decision back: then it is not kept where a letter about that has left. */
  takes_back?: boolean
}

/** What became of a decision. */
export type DecisionOutcome =
  | {
      id: string
      /** `stale`: somebody else decided meanwhile; `told`: see `takes_back`. Nothing was changed then. */
      outcome: 'kept' | 'stale' | 'told'
      status: Status
      version: number
      /** Who decided last, and when; null where nobody did. */
      author: string | null
      at: string | null
    }
  | { id: string; outcome: 'gone' }

/** Whether applications are taken. */
export interface Door {
  /** Goes up with each change, and down by one when the door closes by itself: whoever changes it says which they saw. */
  version: number
  is_open: boolean
  /** Whether it was closed by hand. */
  closed: boolean
  /** What an applicant reads while it is closed. */
  sentence: string
  closes_at: string | null
  closes_after: number | null
  opened_at: string | null
  /** Applications since it was opened; counted only while a number closes it. */
  received: number
}

/** Something that happened to no application. */
export type GeneralHappening = { at: string; author: string } & (
  | { kind: 'door'; detail: Omit<Door, 'version' | 'received'> }
  | { kind: 'erased'; detail: { applications: number } }
  | { kind: 'blind'; detail: { on: boolean } }
  | { kind: 'places'; detail: { places: number | null; days: number } }
  | {
      kind: 'letters'
      detail: {
        template?: string
        removed?: string
        stopped?: boolean
        reply_to?: string
        receipts?: boolean
      }
    }
)

/** A page of what happened to no application, the newest first. */
interface HistoryPage {
  happenings: ({ id: number } & GeneralHappening)[]
  /** Where the next one begins; null at the end. */
  next: { id: number } | null
}

/** A letter to an applicant, as it would be sent or was. */
export interface Letter {
  id: string
  application: string
  /** A status, or what organisers named; blank where it was written to one person and has no template. */
  occasion: string
  /** Higher than 1 where somebody sends again what was sent. */
  edition: number
  /** How it goes: as a mail, or by an automation that is told of the decision. */
  way: 'mail' | 'automation'
  state: 'draft' | 'waiting' | 'sending' | 'sent' | 'refused' | 'given up' | 'withdrawn'
  subject: string
  body: string
  /** Tells one text of a draft from another: whoever changes or releases it says which one they read. */
  seen: string
  /** Placeholders that the applicant left blank, and those that there are none of. */
  missing: string[]
  unknown: string[]
  /** Whether it was cut: filled in it is longer than a letter may be. */
  is_long: boolean
  is_edited: boolean
  /** Null for who reads blind. */
  to: string | null
  name: string | null
  /** Who released it, by which act, and when. */
  author: string | null
  act: string | null
  released_at: string | null
  due_at: string | null
  attempts: number
  /** Tries of which nobody knows whether the letter arrived. */
  uncertain: number
  sent_at: string | null
  withdrawn_at: string | null
  /** Who stopped it; null where another decision did. */
  withdrawn_by: string | null
  /** What the mail server said last. */
  answer: string
  /** Of what is noted as sent and left in no mail of ours: by an organiser's own mail program, or told without a letter. */
  otherwise: 'by hand' | 'told' | null
}

/** What became of a letter. */
export type LetterState = Pick<Letter, 'application' | 'occasion' | 'way' | 'state' | 'otherwise'>

/** Where a list of letters goes on. */
export interface LetterPosition {
  at: string
  id: string
}

interface LetterPage {
  letters: Letter[]
  next: LetterPosition | null
}

/** What letters of an occasion say. */
export interface Template {
  occasion: string
  version: number
  subject: string
  body: string
}

interface LetterSettings {
  version: number
  /** Blank: answers go to the sender. */
  reply_to: string
  /** Whether whoever applies is sent a receipt. */
  receipts: boolean
}

/** How it stands with the letters. */
export interface LettersOverview {
  settings: LetterSettings & { hold_seconds: number }
  /** Whoever carries letters, and whether an automation is told of decisions. */
  postman: {
    is_there: boolean
    is_automation_there: boolean
    stopped: boolean
    paused_until: string | null
    problem: string
    /** Whether somebody looks how the mail server and the sender's domain are, when that was done last, and what was found. */
    is_checking: boolean
    checked_at: string | null
    findings: { about: string; verdict: 'ok' | 'wrong' | 'not known'; said: string }[]
  }
  /** Those of the decisions first. */
  templates: (Template & { drafts: Count })[]
  /** Drafts that were written to one person. */
  personal: Count
  /** What was released together and can still be stopped, and in how many seconds it leaves. */
  leaving: { act: string; count: number; seconds: number }[]
  states: Record<OutboxState, Count>
}

/** Letters that did not leave yet, and those that did not arrive. */
export type OutboxState = 'waiting' | 'refused' | 'given up'

/** A text that is to be filled in for an application, the newest one unless it is named. */
interface Example {
  occasion: string
  subject: string
  body: string
  application?: string
  /** Where the desk is: used where no server knows where the site is. */
  site?: string
}

/** Whether an organiser hears of applications, and when the next day's mail is due. */
export interface Notices {
  notices: 'off' | 'each' | 'daily'
  day_due_at: string | null
  email: string
  /** Whether a server is at work that sends them. */
  is_postman_there: boolean
}

/** A text filled in for an application. */
interface Preview extends Pick<Letter, 'subject' | 'body' | 'missing' | 'unknown' | 'is_long' | 'name'> {
  application: string
  /** Whether the paragraph with the link on which people answer was left out, because nobody knows where the site is. */
  has_no_site?: boolean
}

/** How many places there are, and who comes. */
export interface Places {
  version: number
  /** Null where nobody said how many there are. */
  places: number | null
  /** For how many days a place is kept. */
  days: number
  /** The time zone in which a day ends, and which day it is there. */
  zone: string
  today: string
  /** Where the site is; blank where no server knows it. */
  site: string
  coming: number
  not_coming: number
  /** Who was told, and has not answered; `late` is a part of it. */
  no_answer: number
  late: number
  /** Who is accepted, and no letter has left that says so. */
  not_told: number
  /** Null where nobody said how many there are; less than none where more were accepted. */
  free: number | null
  /** Who is on the waitlist, the first twenty, and since when. */
  waitlist: (Listed & { set_at: string })[]
}

/** Who was drafted a reminder. */
export interface Reminded {
  drafted: number
  /** Of these: whose day is over, and has to be moved before it can be sent. */
  late: number
  /** Who has one that did not leave yet. */
  waiting: number
  /** Who had one in the last three days. */
  reminded: number
  /** Whether there are more than a thousand. */
  more: boolean
}

/** What became of a letter that was to be written. */
export interface WriteOutcome {
  application: string
  /** `written`: there is a draft or a letter; `undecided`: another decision stands. */
  outcome: 'drafted' | 'written' | 'undecided' | 'gone'
  /** Of what was written before, how it stands. */
  state: Exclude<Letter['state'], 'withdrawn'> | null
}

/** What became of a draft that was to be released. */
export interface ReleaseOutcome {
  id: string
  application: string | null
  /** `changed`: since it was read; `missing`: it quotes a blank answer; `again`: it was sent before; `long`: too long. */
  outcome: 'released' | 'changed' | 'missing' | 'long' | 'again' | 'gone'
}

/** The functions of the desk: see `supabase/schemas/` for what each does. */
export interface Functions {
  desk_me: [object, { email: string }]
  desk_list: [{ filter: Filter; after?: Position | null }, ListPage]
  desk_meanwhile: [
    { filter: Filter; shown: Pick<Standing, 'id' | 'version'>[]; oldest: Position | null },
    Meanwhile,
  ]
  desk_overview: [{ filter: Filter; zone: string }, Overview]
  desk_select: [{ filter: Filter; after?: Position | null }, Page<Selected>]
  desk_export: [{ filter: Filter; after?: Position | null }, Page<Exported>]
  desk_application: [{ application: string; filter: Filter }, Opened]
  desk_stamp: [{ application: string }, Pick<Opened, 'stamp'>]
  desk_reveal: [{ act: string; application: string }, Whole]
  desk_blind: [object, { blind: boolean }]
  desk_set_blind: [{ blind: boolean }, { blind: boolean }]
  desk_decide: [{ act: string; decisions: Decision[] }, DecisionOutcome[]]
  desk_note: [{ act: string; application: string; note: string }, Happening[]]
  desk_erase: [{ act: string; applications: string[]; email: string }, { erased: number }]
  desk_door: [object, Door & { history: GeneralHappening[] }]
  desk_history: [{ after: HistoryPage['next'] }, HistoryPage]
  desk_set_door: [Pick<Door, 'version' | 'closed' | 'sentence' | 'closes_at' | 'closes_after'>, Door]
  desk_letters: [object, LettersOverview]
  desk_check_mail: [object, { is_checking: boolean }]
  desk_drafts: [{ occasion: string; after: LetterPosition | null }, LetterPage]
  desk_outbox: [{ state: OutboxState; after: LetterPosition | null }, LetterPage]
  desk_letters_of: [{ applications: string[] }, Letter[]]
  desk_preview: [Example, Preview | null]
  desk_send_test: [Example & { act: string }, { to: string }]
  desk_notices: [object, Notices]
  desk_set_notices: [Pick<Notices, 'notices'>, Notices]
  desk_set_template: [Omit<Template, 'version'> & { version: number | null }, Template]
  desk_remove_template: [Pick<Template, 'occasion' | 'version'>, { removed: boolean }]
  desk_write: [{ applications: string[]; occasion: string; again?: boolean }, WriteOutcome[]]
  desk_write_to: [{ act: string; application: string; subject: string; body: string }, Letter]
  desk_edit: [{ letter: string; seen: string; subject: string; body: string }, Letter]
  desk_discard: [{ letters: string[] }, { discarded: number }]
  desk_release: [
    { act: string; letters: Pick<Letter, 'id' | 'seen'>[]; number: number | null; again: boolean },
    ReleaseOutcome[],
  ]
  desk_withdraw: [{ letters: string[] } | { act: string }, { withdrawn: number; left: number }]
  desk_retry: [{ letters: string[] }, { retried: number }]
  desk_readdress: [{ act: string; letter: string; address: string }, Letter]
  desk_settle: [{ letters: string[] }, { settled: number }]
  desk_sent_by_hand: [{ letter: string; seen: string }, Letter]
  desk_hand_over: [
    { act: string; letter: string; seen: string; site: string; zone: string },
    Pick<Letter, 'subject' | 'body'>,
  ]
  desk_places: [{ zone: string }, Places]
  desk_set_places: [Pick<Places, 'version' | 'places' | 'days'>, Places]
  desk_set_answer: [{ act: string; application: string; answer: Answer | null }, Whole]
  desk_keep_until: [{ act: string; application: string; until: string }, Whole]
  desk_remind: [object, Reminded]
  desk_stop: [{ stopped: boolean }, { stopped: boolean }]
  desk_set_letters: [LetterSettings, LetterSettings]
}

/** Milliseconds after which a call is given up: longer than a server waits for its database. */
const timeout = 20_000

/** Calls a function of the desk. */
export type CallDesk = <Name extends keyof Functions>(
  name: Name,
  given: Functions[Name][0],
  signal?: AbortSignal,
) => Promise<Functions[Name][1]>

/**
 * The desk's functions, called as whoever is signed in.
 *
 * @returns A call that throws a `RefusedCall` where the database refuses, a `TypeError` where no answer came, and a
 *   `DOMException` where none came in time.
 */
export function createDesk(call: CallFunction): CallDesk {
  return async (name, given, signal) => {
    const inTime = AbortSignal.timeout(timeout)
    return (await call(name, given, signal ? AbortSignal.any([signal, inTime]) : inTime)) as never
  }
}
