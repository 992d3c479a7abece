import type { Announcement } from '../../application/announcement.ts'
import type { OrganiserChange } from '../../application/organiser-change.ts'
import type { ListedApplication } from './applications.ts'
import type { Edition } from './editions.ts'
import type { PageText } from '../../application/page-words.ts'
import type { RetentionMonths } from './retention.ts'

/** Whether applications are open, and what closes them. */
export interface Door {
  /** The number of changes, including an automatic closing. A change must name the version that the organiser saw. */
  version: number
  is_open: boolean
  /** Whether an organiser closed it. */
  closed: boolean
  /** The sentence for applicants while it is closed. */
  sentence: string
  closes_at: string | null
  /** The number of applications after which it closes automatically. */
  closes_after: number | null
  opened_at: string | null
  /** Applications since it was opened, without those put aside. Counted only if `closes_after` is set. */
  received: number
}

/** Something that happened at the desk in general, not to one application. */
export type GeneralHistoryEntry = { at: string; author: string } & (
  | { kind: 'door'; detail: Omit<Door, 'version' | 'received'> }
  | { kind: 'erased'; detail: { applications: number } }
  | { kind: 'blind'; detail: { on: boolean } }
  | { kind: 'organiser'; detail: OrganiserChange }
  | { kind: 'edition'; detail: Pick<Edition, 'name'> & { edition: number; is_renamed?: true } }
  /** The months that were set, or the number of applications that were erased. */
  | { kind: 'retention'; detail: RetentionMonths | { edition: number; erased: number } }
  /** The number of questions that were saved, or of private answers that were erased. */
  | { kind: 'questions'; detail: { questions: number } | { erased: number } }
  /** The former values of what changed on the applicants' page. */
  | {
      kind: 'page'
      detail: Partial<Record<PageText | `shows_${'days' | 'venue' | 'closing'}`, string | boolean>>
    }
  /** `zone` is present only if it changed. */
  | {
      kind: 'places'
      detail: { places: number | null; days: number; zone?: string } & Partial<Omit<RetreatDays, 'version'>>
    }
  | {
      kind: 'letters'
      detail: {
        template?: string
        removed?: string
        stopped?: boolean
        reply_to?: string
        receipts?: boolean
        confirmations?: boolean
      }
    }
)

/** A page of the desk's history, the newest entry first. */
export interface HistoryPage {
  happenings: ({ id: number } & GeneralHistoryEntry)[]
  /** The cursor of the next page; null at the end. */
  next: { id: number } | null
}

/** The days of the retreat and its venue. */
export interface RetreatDays {
  /** The number of changes. A change must name the version that the organiser saw. */
  version: number
  /** The first and the last day, as `2026-12-31`; both are null until they are known. */
  starts_on: string | null
  ends_on: string | null
  venue: string
}

/** The numbers of places and RSVPs, and the waitlist. */
export interface Places {
  version: number
  /** Null if the number is unknown. */
  places: number | null
  /** The number of days that accepted people have to answer. */
  days: number
  /** The time zone of deadlines, `UTC` until one is set; and today's date in it. */
  zone: string
  is_zone_set: boolean
  today: string
  /** The number of the retreat, and all retreats, the newest first. */
  edition: number
  editions: Edition[]
  retreat: RetreatDays
  /** The number of questions to guests, and of guests who have not answered a required one. */
  questions: { questions: number; open: number }
  erasing: Announcement | null
  /** The site's address; blank if no server has stored it. */
  site: string
  coming: number
  not_coming: number
  /** Accepted people who were told so and have not given an RSVP, including those who are `late`. */
  no_answer: number
  late: number
  /** The reminders that would be drafted now. */
  to_remind: number
  /** Accepted people who have not been sent a letter saying so. */
  not_told: number
  /** Null if the number of places is unknown; negative if more people were accepted than there are places. */
  free: number | null
  /** The number of people on the waitlist. */
  waitlisted: number
  /** The first twenty people on the waitlist, and when they were waitlisted. */
  waitlist: (ListedApplication & { set_at: string })[]
}

/** A step to prepare the site before the first application. */
export type FirstStep =
  | 'days'
  | 'mail'
  | 'page'
  | 'questions'
  | 'application'
  | 'read'
  | 'test'
  | 'door'
  | 'colleagues'
  | 'factor'
  | 'notices'
  | 'backups'
  | 'erased'
  | 'shared'

/** How far the first steps are. */
export interface FirstSteps {
  /** The steps that the database knows to be done. */
  done: FirstStep[]
  /** The steps that an organiser ticked, and `test` once a letter was tested. */
  ticked: FirstStep[]
  /** Whether a server sends emails now. */
  has_mail: boolean
  /** Whether a server of ours ever worked on the database. */
  has_server: boolean
}

/** The outcome of drafting reminders, in numbers of people. */
export interface ReminderOutcome {
  /** People for whom a reminder was drafted. */
  drafted: number
  /** Of all drafted, the people who are reminded of questions. */
  questions: number
  /** Of all drafted, the people whose deadline has passed: move it before you send the reminder. */
  late: number
  /** People with a reminder that is not sent yet. */
  waiting: number
  /** People who got a reminder in the last three days. */
  reminded: number
  /** Whether more than 1,000 people need a reminder of their RSVP, or of questions, so that the rest got no draft. */
  more: boolean
}

/** The visits to the applicants' page in the last 90 days. */
export interface PageVisits {
  /** Whether a server of ours has ever counted. A hosted page counts no visits. */
  is_counted: boolean
  /** Each day, the oldest first. A day is such as `2026-12-31`, in the time zone of deadlines. */
  days: VisitedDay[]
  /**
   * The twenty sources with the most visits, the largest first. Blank: the address had no `from`. `other`: the `from` was
   * invalid, or came after the 200 different ones that are counted in a day.
   */
  sources: { source: string; visits: number }[]
}

/** The numbers of one day. */
export interface VisitedDay {
  day: string
  visits: number
  /** How often the page's script was fetched. */
  starts: number
  /** Without those put aside. */
  applications: number
}
