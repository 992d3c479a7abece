import type { Application } from '../../application/application.ts'
import type { OrganiserWork } from '../../application/csv.ts'
import type { Rsvp, RsvpState, Status } from '../../application/statuses.ts'
import type { Letter, LettersOverview, LetterState } from './letters.ts'
import type { Hold } from './retention.ts'
import type { Count } from './count.ts'
import type { MarkCounts, Marks } from './marks.ts'
import type { AnsweredQuestion } from '../../application/questions.ts'
import type { Edition } from './editions.ts'

/** A filter of applications. An omitted condition matches every application. */
export interface Filter {
  /** The number of a retreat; without it, the newest. */
  edition?: number | undefined
  status?: Status | undefined
  search?: string | undefined
  /** A blank value matches applications that left the question blank. */
  team_size?: Application['team_size'] | undefined
  paid_solution?: Application['paid_solution'] | undefined
  /** The RSVP of accepted people. `no answer` includes `late`. */
  answer?: RsvpState | undefined
  /** Matches applications stored at or after `since`, and before `until`, both in ISO 8601. */
  since?: string | undefined
  until?: string | undefined
  /** Matches applications without the organiser's own mark, or those with a visible Yes and a visible No. */
  marks?: 'none of mine' | 'disagree' | undefined
  /**
   * The order, by default the newest first. `most yes`: those with the most visible Yes marks first. `shuffled`: an order that
   * differs between organisers and stays the same. The order does not change which applications match.
   */
  order?: 'oldest' | 'most yes' | 'shuffled' | undefined
}

/** An applicant's RSVP. All fields are null if the applicant is not accepted. */
export interface RsvpDetails {
  answer_state: RsvpState | null
  answer: Rsvp | null
  answered_at: string | null
  /** The last day for their RSVP, as `2026-12-31`. */
  kept_until: string | null
}

/** The position where a list continues. */
export interface Cursor {
  created_at: string
  id: string
  /** The number of visible Yes marks; only in the order `most yes`. */
  yes?: number
}

/** The fields that blind reading hides. */
type HiddenField = 'first_name' | 'last_name' | 'email' | 'phone' | 'linkedin' | 'company'

/** The organisers' work on an application, and the applicant's RSVP and withdrawal. */
export interface Summary extends RsvpDetails {
  id: string
  created_at: string
  status: Status
  /** The number of decisions so far. A decision must name the version that the organiser saw. */
  version: number
  /** When the applicant withdrew the application; null unless it is withdrawn. */
  withdrawn_at: string | null
  /** Whether another application to the same retreat has the same email. */
  same_email: boolean
  /** Whether an application to an earlier retreat has the same email. */
  applied_before?: boolean
}

/** The words for an applicant whose name shows nothing: the email. */
interface BlankName {
  name?: string
}

type Blindable<Fields> = Omit<Fields, HiddenField> & Partial<Pick<Fields, HiddenField & keyof Fields>>

/** An application in a list, with only the first line of its reason. */
export type ListedApplication = Summary &
  BlankName &
  Blindable<Omit<Application, 'phone' | 'linkedin' | 'custom_solution' | 'consent'>>

/** A complete application. In blind reading, it lacks the hidden fields. */
export type FullApplication = Summary &
  BlankName &
  Blindable<Application> & {
    /** The email as people read it, if its domain is stored in ASCII and has another form. */
    shown_email?: string
    /** The organiser who added the person by hand; null if the person applied. */
    added_by: string | null
  }

/** The data that is needed to act on an application. */
export type SelectedApplication = Pick<Summary, 'id' | 'status' | 'version'> &
  BlankName &
  Partial<Pick<Application, 'first_name' | 'last_name'>>

/** The outcome of adding a person. */
export interface AddedPerson {
  /** The id of the added application; null if nobody was added. */
  application: string | null
  /** Whether a receipt was written: none is if the address or its company got too many within a day. */
  receipt: boolean
  /** Other applications with the same email to the same retreat, the newest first. */
  others: (Pick<Summary, 'id' | 'status'> & BlankName & Pick<Application, 'first_name' | 'last_name'>)[]
}

/** Applications that look as if a program had sent them. */
export interface JunkGroup {
  /**
   * `reason`: several addresses sent the same reason. `links`: the reason is nothing but links. `domain`: many applied within an
   * hour with addresses of one domain.
   */
  kind: 'reason' | 'links' | 'domain'
  /** The domain; null for other kinds, and for organisers who read blind. */
  key: string | null
  /** The beginning of the newest application's reason. */
  example: string
  /** The newest first. */
  applications: SelectedApplication[]
}

/** An application in an exported table, with the organisers' work on it. */
export type ExportedApplication = FullApplication & OrganiserWork

/** One page of a list. */
export interface Page<Item> {
  applications: Item[]
  /** The cursor of the next page; null at the end. A page may be short or empty before the end. */
  next: Cursor | null
}

/** A page of the list, with the states of the letters to its applicants, the oldest first. */
export interface ListPage extends Page<ListedApplication> {
  /** Present if the caller is a reader. */
  reader?: true
  letters: LetterState[]
  /** By the application's id; without the applications that have no visible mark. */
  marks: Record<string, MarkCounts>
  /** The ids of the applications with a note of somebody else that the organiser has not seen. */
  new_notes: string[]
}

/** The changes to the list on screen. */
export interface ListChanges {
  /** Rows whose status has changed. */
  changed: Pick<Summary, 'id' | 'status' | 'version'>[]
  /** Rows that were erased. */
  gone: string[]
  /** The ids of the rows that are withdrawn. */
  withdrawn: string[]
  /** The states of the letters of all rows, the oldest first. */
  letters: LetterState[]
  marks: Record<string, MarkCounts>
  new_notes: string[]
  /** The RSVPs of applications that are or were accepted, by id. */
  answers: Record<string, RsvpDetails>
  /** The numbers of matching applications that are not shown: `newer` than every shown one, and the rest. */
  newer: number
  older: number
  /** Whether there may be more matching applications than were counted. */
  more: boolean
}

/** Counts of the newest thousand applications that match a filter. */
export interface Overview extends Count {
  /** Counts of each status, regardless of the filter's status. */
  counts: Record<Status | 'all', Count>
  acceptances: Acceptances
  /** All retreats, the newest first. */
  editions: Edition[]
  /** What came since `day`, yesterday, began: applications, and applicants who gave an RSVP. */
  since_yesterday: { day: string; new: Count; replied: Count }
  /** The number of applications by day, as `2026-12-31`. */
  days: Record<string, number>
  team_size: Partial<Record<Application['team_size'], number>>
  paid_solution: Partial<Record<Application['paid_solution'], number>>
}

/** Something that an organiser did to an application. `author`: their name, or their email. */
export type HistoryEntry = { act: string; at: string; author: string } & (
  | { kind: 'status'; detail: { status: Status; former: Status } }
  | { kind: 'note'; detail: { note: string } }
  | { kind: 'revealed'; detail: object }
  /** An organiser replaced the applicant's address. The new address is hidden from organisers who read blind. */
  | { kind: 'address'; detail: { address?: string } }
  /** A letter failed, and an organiser told the applicant another way (`desk_settle`). */
  | { kind: 'told'; detail: Pick<Letter, 'occasion' | 'way'> }
  /** A letter came back (`desk_came_back`). */
  | { kind: 'returned'; detail: Pick<Letter, 'occasion' | 'way'> }
  /** An organiser added the person by hand (`desk_add`). */
  | { kind: 'added'; detail: object }
  /** The author is `applicant` if the applicant answered. The answer is null if an organiser removed it. */
  | { kind: 'answer'; detail: { answer: Rsvp | null } }
  /** Some answers to questions changed. The author is `applicant` if the applicant answered. */
  | { kind: 'questions'; detail: { changes: number } }
  /** An organiser set the applicant's deadline (`desk_keep_until`). */
  | { kind: 'kept'; detail: { until: string } }
  /** An organiser put a hold on the application with this reason, or ended the hold: null. Blind readers get no reason. */
  | { kind: 'hold'; detail: { reason?: string | null } }
  /** The applicant withdrew the application, or took that back. */
  | { kind: 'withdrawal'; detail: { is_withdrawn: boolean } }
  /** The author got a letter with its RSVP link for their own mail program (`desk_hand_over`). */
  | { kind: 'link'; detail: Pick<Letter, 'occasion'> }
)

/** How far the application's delivery to the webhook is. */
export interface Delivery {
  delivered_at: string | null
  attempts: number
  last_status: number | null
  next_attempt_at: string | null
}

/** One application and everything that is known about it. */
export interface ApplicationDetails {
  application: FullApplication
  /** The number of its retreat. */
  edition: number
  /** The oldest first. */
  history: HistoryEntry[]
  /** Null if no delivery was queued. */
  delivery: Delivery | null
  /** Other applications with the same email to any retreat, the newest first; at most a hundred. */
  others: { id: string; created_at: string; company: string; status: Status; edition: number }[]
  /** The questions to somebody who is coming or has answered some. */
  questions: AnsweredQuestion[]
  /** The day on which the application is erased (null: never), and its hold (null: none). */
  erased_on: string | null
  hold: Hold | null
}

/** The position of an application in a list. */
export interface ListPosition extends Count {
  /** Counted from 1; null if the application does not match the filter, or is not among the first thousand. */
  number: number | null
  /** The ids of the neighbours in the list; null if there is none. */
  previous: string | null
  next: string | null
}

/** The acceptances of a retreat. */
export interface Acceptances {
  accepted: number
  /** The number of places; null if it is not set. */
  places: number | null
}

/** The data that is shown when an application is opened. */
export interface OpenedApplication extends ApplicationDetails {
  /** The caller as an author of events. */
  me: string
  /** Released letters, the oldest first, and then the drafts. Readers get no drafts and no texts. */
  letters: Letter[]
  /** When a letter to the applicant's address last failed or came back; null if none did, and for blind readers. */
  failed_at: string | null
  /** The time up to which the organiser has seen its notes. */
  notes_seen_until: string
  /** Null if there is only one organiser. */
  marks: Marks | null
  /** Whether anybody has marked an application to the same retreat. */
  is_marking: boolean
  /** How many are accepted to the same retreat. */
  acceptances: Acceptances
  /** The overview of all letters: settings, mail sender, templates and counts. Readers do not get it. */
  overview?: LettersOverview
  /** Changes whenever anything about the application changes, except its position in the list. */
  stamp: string
  /** Its position in the list that the filter gives; null if no filter was given. (The field has its name from 1.0.0.) */
  place: ListPosition | null
}

/** A status to set, and the version that the organiser saw. */
export interface Decision {
  id: string
  status: Status
  version: number
  /** Whether it undoes the last decision. It is refused if a letter about the undone decision was sent. */
  takes_back?: boolean
}

/** The outcome of a decision. */
export type DecisionOutcome =
  | {
      id: string
      /**
       * `kept`: saved. `stale`: not saved, because somebody else decided meanwhile. `told`: not undone, because the applicant was
       * already sent a letter about it. `withdrawn`: not saved, because the applicant withdrew the application.
       */
      outcome: 'kept' | 'stale' | 'told' | 'withdrawn'
      status: Status
      version: number
      /** The author and time of the last decision; null if nobody decided. */
      author: string | null
      at: string | null
      /** The number of letters on their way to the applicant that the decision stopped. */
      stopped: number
    }
  | { id: string; outcome: 'gone' }
