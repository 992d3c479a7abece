import type { Count } from './count.ts'

/** A letter to an applicant, as it was or would be sent. */
export interface Letter {
  /** A draft's own id. A released letter has the id of its delivery. */
  id: string
  application: string
  /** The name of its template, which is a status for a decision; blank for a letter to one person, which has no template. */
  occasion: string
  /** Not a retreat: 1 for the first sending of the letter to the applicant, higher if it was sent before. */
  edition: number
  /** `mail`: by email. `automation`: the decision is sent to an automation. */
  way: 'mail' | 'automation'
  state: 'draft' | 'waiting' | 'sending' | 'sent' | 'refused' | 'given up' | 'withdrawn'
  subject: string
  body: string
  /** Identifies a draft's text. An edit or a release must name the text that the organiser read. */
  seen: string
  /** Placeholders whose form answer is blank, and placeholders that do not exist. */
  missing: string[]
  unknown: string[]
  /** Whether the text was cut, because it is too long with its form answers filled in. */
  is_long: boolean
  /** For a draft to an accepted person: the deadline if it were sent today, as `2026-12-31`. */
  reply_by: string | null
  is_edited: boolean
  /** Null for organisers who read blind. */
  to: string | null
  name: string | null
  /** The author, act and time of its release. */
  author: string | null
  act: string | null
  released_at: string | null
  due_at: string | null
  attempts: number
  /** The number of attempts with an unknown outcome: the letter may have arrived. */
  uncertain: number
  sent_at: string | null
  withdrawn_at: string | null
  /** The organiser who stopped it; null if a new decision about the applicant stopped it. */
  withdrawn_by: string | null
  /** The mail server's last reply. */
  answer: string
  /**
   * How the applicant was told without our mail server. `by hand`: from an organiser's own mail program. `told`: without a
   * letter.
   */
  otherwise: 'by hand' | 'told' | null
  /** Only for a draft: when a letter to this address last failed or came back; null if none did, and for blind readers. */
  failed_at?: string | null
}

/** How far a letter is. */
export type LetterState = Pick<Letter, 'application' | 'occasion' | 'way' | 'state' | 'otherwise' | 'sent_at'>

/** The position where a list of letters continues. */
export interface LetterCursor {
  /** Among the drafts of several templates: the position of the template. Counted from 1. */
  position?: number
  at: string
  id: string
}

/** One page of drafts, or of the letters that are waiting, refused or given up. */
export interface LetterPage {
  letters: Letter[]
  next: LetterCursor | null
  /**
   * On the first page of failed letters, the ids of all that can be tried again, up to a thousand. Pages of drafts and older
   * schemas omit it.
   */
  retriable?: string[]
  /** The overview of all letters: settings, mail sender, templates and counts. */
  overview: LettersOverview
}

/** The text of letters for an occasion. */
export interface Template {
  occasion: string
  version: number
  subject: string
  body: string
  /** The product's text, if the template has another one; null if not. */
  original: { subject: string; body: string } | null
}

/** The settings of all letters. */
export interface LetterSettings {
  version: number
  /** Blank: replies go to the sender. */
  reply_to: string
  /** Whether applicants are sent a receipt. */
  receipts: boolean
  /** Whether people who say that they are coming are sent a confirmation. */
  confirmations: boolean
}

/** The overview of all letters: settings, mail sender, templates and counts. */
export interface LettersOverview {
  /** `hold_seconds`: for how long a released letter can be stopped before it is sent. */
  settings: LetterSettings & { hold_seconds: number }
  /** The mail sender: the servers that send letters, or send decisions to an automation. */
  postman: {
    is_there: boolean
    is_automation_there: boolean
    /** Whether a server posts applications to a webhook. */
    is_webhook_there: boolean
    stopped: boolean
    paused_until: string | null
    problem: string
    /** Whether the mail server and the sender's domain are being checked, when they were last checked, and the findings. */
    is_checking: boolean
    checked_at: string | null
    findings: { about: string; verdict: 'ok' | 'wrong' | 'not known'; said: string }[]
  }
  /** Whether the site's address is unknown, so that letters and receipts are sent without their links. */
  has_no_site: boolean
  /** The applications of accepted people who were told without their link, and can get it by a reminder; up to a thousand. */
  without_link: string[]
  /** Templates for decisions come first. */
  templates: (Template & { drafts: Count })[]
  /** Drafts of letters to one person. */
  personal: Count
  /**
   * Letters that one act released and that can still be stopped, with the act's id and the seconds until they are sent. A single
   * recipient has a `name`, unless it is hidden or not read yet.
   */
  leaving: { act: string; count: number; seconds: number; name?: string | null }[]
  states: Record<OutboxState, Count>
}

/** The states of letters that are not sent yet or did not arrive. */
export type OutboxState = 'waiting' | 'refused' | 'given up'

/** A text with placeholders, to fill in from an application: by default the newest. */
export interface PreviewText {
  occasion: string
  subject: string
  body: string
  application?: string
  /** The desk's address, used if no server has stored the site's. */
  site?: string
}

/** Whether an organiser gets emails about applications, and when the next daily email is due. */
export interface Notices {
  notices: 'off' | 'each' | 'daily'
  day_due_at: string | null
  email: string
  /** Whether a server that sends them is running. */
  is_postman_there: boolean
}

/** A text filled in for an application. */
export interface Preview extends Pick<
  Letter,
  'subject' | 'body' | 'missing' | 'unknown' | 'is_long' | 'name' | 'reply_by'
> {
  application: string
  /** Whether the paragraph with the RSVP link was left out, because the site's address is unknown. */
  has_no_site?: boolean
}

/** The outcome of drafting a letter. */
export interface WriteOutcome {
  application: string
  /**
   * `written`: a draft or a letter exists already; `undecided`: the application's status is not the template's; `withdrawn`: the
   * applicant withdrew the application.
   */
  outcome: 'drafted' | 'written' | 'undecided' | 'withdrawn' | 'gone'
  /** The state of the existing letter. */
  state: Exclude<Letter['state'], 'withdrawn'> | null
}

/** The outcome of releasing a draft. */
export interface ReleaseOutcome {
  id: string
  application: string | null
  /**
   * `changed` since it was read; `missing`: it quotes a blank form answer; `again`: sent before; `long`: too long; `withdrawn`:
   * the applicant withdrew the application.
   */
  outcome: 'released' | 'changed' | 'missing' | 'long' | 'again' | 'withdrawn' | 'gone'
}
