import type { Application } from '../../application/application.ts'
import type { Rsvp, Status } from '../../application/statuses.ts'
import type { HistoryEntry } from './applications.ts'
import type { MarkValue } from './marks.ts'

/** One delivery about an application. `supabase/schemas/letters/tables.sql` documents its columns. */
export interface DeliveryAbout {
  id: string
  /** `decision`: an automation is told of a decision. `rsvp`: it is told of an RSVP. */
  kind: 'application' | 'rsvp' | 'decision' | 'letter' | 'receipt' | 'notice' | 'test'
  /** The id of its letter; null for other kinds. */
  letter: string | null
  /** The act of the RSVP in the history; null for other kinds. */
  event: string | null
  /** An email address, or `webhook`. */
  recipient: string | null
  subject: string | null
  body: string | null
  /** The period of a daily notice; null for other kinds. */
  since: string | null
  until: string | null
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled'
  by: 'server' | 'hand' | 'elsewhere'
  /** The id of the act that released it. */
  act: string | null
  author: string | null
  queued_at: string
  due_at: string | null
  tried_at: string | null
  done_at: string | null
  attempts: number
  reply_status: number | null
  reply: string
  is_refused: boolean
  may_have_arrived: number
  closings: number
  recalled_at: string | null
  recalled_by: string | null
  is_beside: boolean
  mailbox: string | null
  domain: string | null
  /** The addresses at which an email failed, or from which it came back. */
  failures: { address: string; at: string }[]
}

/** An application with what every table has about it. */
export interface AllAboutApplication {
  id: string
  created_at: string
  edition: {
    number: number
    name: string
    starts_on: string | null
    ends_on: string | null
    venue: string
  }
  answers: Omit<Application, 'consent'>
  /**
   * The sentence that the applicant ticked, and when they sent it. If an organiser added the person, `added_by` is that organiser, and
   * there is no sentence.
   */
  consent: { given: boolean; at: string } & (
    | { sentence: string; added_by: null }
    | { sentence: null; added_by: string }
  )
  /** The address with which an organiser replaced the applicant's; null if none did. */
  address: string | null
  status: { status: Status; version: number; set_at: string | null; withdrawn_at: string | null }
  /** Whether they got a receipt, which may have a link to withdraw. */
  has_withdrawal_link: boolean
  /** Null if it has no hold, so that it is erased automatically. */
  hold: { reason: string; held_by: string; held_at: string } | null
  marks: {
    author: string
    /** Null if the author took it back. */
    mark: MarkValue | null
    why: string
    at: string
    is_after_seeing: boolean
    has_seen: boolean
    was_shown: boolean
  }[]
  /** Whether the marks of others are left out, because the reader may not see them yet. */
  are_marks_hidden: boolean
  /** The oldest first. */
  history: HistoryEntry[]
  /** Null if the applicant was never accepted. `has_link`: the link itself is a secret of the applicant. */
  invitation: {
    has_link: boolean
    is_accepted: boolean
    told_at: string | null
    reminded_at: string | null
    deadline: string | null
    is_deadline_set: boolean
    rsvp: Rsvp | null
    rsvp_at: string | null
  } | null
  questions: { id: string; question: string; is_private: boolean; answer: string; answered_at: string }[]
  letters: {
    id: string
    template: string | null
    state: 'draft' | 'released' | 'dropped'
    /** The subject and the text; null if they are the template's. */
    subject: string | null
    body: string | null
    version: number
    drafted_at: string
  }[]
  /** The oldest first. */
  deliveries: DeliveryAbout[]
  /** The acts of the last day that name the application. */
  acts: { act: string; at: string; call: string; author: string | null; result: unknown }[]
}

/** Everything about the person with an email address. */
export interface AllAbout {
  email: string
  /** The newest first. */
  applications: AllAboutApplication[]
  /** The number of older applications that are left out. */
  left_out: number
  /**
   * Applications that gave another email, and to which only an address leads with which an organiser replaced another. They may be
   * somebody else's. `address`: the replacement that leads there, null if the application itself gave it.
   */
  by_address: {
    id: string
    created_at: string
    first_name: string
    last_name: string
    /** The email, if the name shows nothing. */
    name?: string
    email: string
    address: string | null
  }[]
  /**
   * The person's own account; null if they have none. `history` and `marks` count what they did as an organiser. Of another's account
   * an organiser gets only `email`, `name` and `organiser_since`.
   */
  account: {
    email: string
    /** The name that stands in place of the email at the desk. */
    name: string | null
    organiser_since: string | null
    created_at: string | null
    last_sign_in_at: string | null
    blind: boolean | null
    reads_only: boolean | null
    is_reader: boolean | null
    notices: 'off' | 'each' | 'daily' | null
    history: number | null
    marks: number | null
  } | null
}
