import type { Application } from '../../application/application.ts'
import type { Made } from '../../application/csv.ts'
import type { Answer, AnswerState, Status } from '../../application/statuses.ts'
import type { Letter, LettersOverview, LetterState } from './letters.ts'
import type { Count } from './count.ts'

/** Which applications are asked for. A condition that is left out lets all of them through. */
export interface Filter {
  status?: Status | undefined
  search?: string | undefined
  /** A blank value asks for those that left the question blank. */
  team_size?: Application['team_size'] | undefined
  paid_solution?: Application['paid_solution'] | undefined
  /** Of those who are accepted. `no answer` includes those who are late. */
  answer?: AnswerState | undefined
  /** From this moment on, and before that moment, in ISO 8601. */
  since?: string | undefined
  until?: string | undefined
  /** Which applications come first: the newest, unless given. It changes their order, not which ones are let through. */
  order?: 'oldest' | undefined
}

/** Whether an applicant comes; all null where they are not accepted. */
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

/** What organisers did about an application, and whether the applicant comes. */
export interface Summary extends AnswerShown {
  id: string
  created_at: string
  status: Status
  /** Counts the decisions. Whoever decides says which version they saw. */
  version: number
  /** Whether the same e-mail applied again. */
  same_email: boolean
}

type Seen<Given> = Omit<Given, Hidden> & Partial<Pick<Given, Hidden & keyof Given>>

/** An application in a list, with the first line of its reason alone. */
export type Listed = Summary & Seen<Omit<Application, 'phone' | 'linkedin' | 'custom_solution' | 'consent'>>

/** A whole application, or, read blind, without what is hidden. */
export type Read = Summary & Seen<Application>

/** What has to be known of an application to act on it. */
export type Selected = Pick<Summary, 'id' | 'status' | 'version'> &
  Partial<Pick<Application, 'first_name' | 'last_name'>>

/** An application in a table, with what organisers did about it. */
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

/** How a list that is shown has changed. */
export interface ListChanges {
  /** Rows whose status has changed. */
  changed: Pick<Summary, 'id' | 'status' | 'version'>[]
  /** Rows that were erased. */
  gone: string[]
  /** What became of the letters of all rows, the oldest first. */
  letters: LetterState[]
  /** Whether people come, by the ids of the applications that are, or were, accepted. */
  answers: Record<string, AnswerShown>
  /** How many applications pass the filter and are not shown: those newer than every shown one, and the others. */
  newer: number
  older: number
  /** Whether there may be more of these. */
  more: boolean
}

/** Counts of the newest thousand applications that a filter lets through. */
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
  /** Letters go to another address from then on. The address is hidden from whoever reads blind. */
  | { kind: 'address'; detail: { address?: string } }
  /** The applicant was told without the letter that did not arrive. */
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
  /** Counted from 1; null where the filter does not let it through, or where it is not among the first thousand. */
  number: number | null
  /** Their ids; null where there is none. */
  previous: string | null
  next: string | null
}

/** An application as it is opened. */
export interface Opened extends Whole {
  /** The oldest first. */
  letters: Letter[]
  /** How all letters stand. */
  overview: LettersOverview
  /** Changes whenever anything of the application changes but its place in the list. */
  stamp: string
  /** Null where no filter was given. */
  place: Place | null
}

/** A status that is to be set, and the version that whoever decides saw. */
export interface Decision {
  id: string
  status: Status
  version: number
  /** Whether it takes a decision back. It is refused then where a letter about that decision has left. */
  takes_back?: boolean
}

/** What became of a decision. */
export type DecisionOutcome =
  | {
      id: string
      /** `stale`: somebody else decided meanwhile; `told`: see `takes_back`. Neither changes anything. */
      outcome: 'kept' | 'stale' | 'told'
      status: Status
      version: number
      /** Who decided last, and when; null where nobody decided. */
      author: string | null
      at: string | null
    }
  | { id: string; outcome: 'gone' }
