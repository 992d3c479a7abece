import type { Count } from './count.ts'

/** A letter to an applicant, as it would be sent or was. */
export interface Letter {
  id: string
  application: string
  /** A status, or the name that organisers gave a template; blank where it was written to one person and has no template. */
  occasion: string
  /** Higher than 1 where somebody sends again what was sent. */
  edition: number
  /** How it goes: as a mail, or by an automation that is told of the decision. */
  way: 'mail' | 'automation'
  state: 'draft' | 'waiting' | 'sending' | 'sent' | 'refused' | 'given up' | 'withdrawn'
  subject: string
  body: string
  /** Changes with a draft's text. Whoever changes or releases the draft says which text they read. */
  seen: string
  /** Placeholders whose answer is blank, and placeholders that do not exist. */
  missing: string[]
  unknown: string[]
  /** Whether it was cut, because it is longer than a letter may be once its answers are filled in. */
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
  /** How it was told where no mail of ours left: by an organiser's own mail program, or without a letter. */
  otherwise: 'by hand' | 'told' | null
}

/** What became of a letter. */
export type LetterState = Pick<Letter, 'application' | 'occasion' | 'way' | 'state' | 'otherwise'>

/** Where a list of letters goes on. */
export interface LetterPosition {
  at: string
  id: string
}

export interface LetterPage {
  letters: Letter[]
  next: LetterPosition | null
  /** How all letters stand. */
  overview: LettersOverview
}

/** What letters of an occasion say. */
export interface Template {
  occasion: string
  version: number
  subject: string
  body: string
}

export interface LetterSettings {
  version: number
  /** Blank: replies go to the sender. */
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
    /** Whether the mail server and the sender's domain are being checked, when they were checked last, and what was found. */
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
export interface Example {
  occasion: string
  subject: string
  body: string
  application?: string
  /** Where the desk is: used where no server knows the site's address. */
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
export interface Preview extends Pick<
  Letter,
  'subject' | 'body' | 'missing' | 'unknown' | 'is_long' | 'name'
> {
  application: string
  /** Whether the paragraph with the link to answer was left out, because nobody knows the site's address. */
  has_no_site?: boolean
}

/** What became of a letter that was to be written. */
export interface WriteOutcome {
  application: string
  /** `written`: there is a draft or a letter; `undecided`: another decision stands. */
  outcome: 'drafted' | 'written' | 'undecided' | 'gone'
  /** The state of the letter that was written before. */
  state: Exclude<Letter['state'], 'withdrawn'> | null
}

/** What became of a draft that was to be released. */
export interface ReleaseOutcome {
  id: string
  application: string | null
  /** `changed` since it was read; `missing`: it quotes a blank answer; `again`: it was sent before; `long`: too long. */
  outcome: 'released' | 'changed' | 'missing' | 'long' | 'again' | 'gone'
}
