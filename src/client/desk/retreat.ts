import type { ListedApplication } from './applications.ts'

/** Whether applications are open, and what closes them. */
export interface Door {
  /** Counts the changes, including an automatic closing. A change has to name the version that its author saw. */
  version: number
  is_open: boolean
  /** Whether it was closed by hand. */
  closed: boolean
  /** The sentence for applicants while it is closed. */
  sentence: string
  closes_at: string | null
  closes_after: number | null
  opened_at: string | null
  /** Applications since it was opened; counted only while a number closes it. */
  received: number
}

/** Something that happened at the desk in general, not to one application. */
export type GeneralHistoryEntry = { at: string; author: string } & (
  | { kind: 'door'; detail: Omit<Door, 'version' | 'received'> }
  | { kind: 'erased'; detail: { applications: number } }
  | { kind: 'blind'; detail: { on: boolean } }
  /** With the time zone where it changed. */
  | { kind: 'places'; detail: { places: number | null; days: number; zone?: string } }
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

/** A page of these, the newest first. */
export interface HistoryPage {
  happenings: ({ id: number } & GeneralHistoryEntry)[]
  /** The cursor of the next page; null at the end. */
  next: { id: number } | null
}

/** The numbers of places and RSVPs, and the waitlist. */
export interface Places {
  version: number
  /** Null where the number is unknown. */
  places: number | null
  /** For how many days a place is kept. */
  days: number
  /** The time zone in which a day ends, `UTC` until one is set, and today's date there. */
  zone: string
  is_zone_set: boolean
  today: string
  /** The site's address; blank where no server knows it. */
  site: string
  coming: number
  not_coming: number
  /** People who were told and have not given an RSVP, including those who are `late`. */
  no_answer: number
  late: number
  /** Accepted people who have not been sent a letter saying so. */
  not_told: number
  /** Null where the number of places is unknown; negative where more people were accepted. */
  free: number | null
  /** People on the waitlist; undefined where the server is older than the desk. */
  waitlisted?: number
  /** The first twenty of them, and since when they are on it. */
  waitlist: (ListedApplication & { set_at: string })[]
}

/** People for whom a reminder was drafted. */
export interface ReminderOutcome {
  drafted: number
  /** Those of them whose deadline has passed: it has to be moved before the reminder can be sent. */
  late: number
  /** People with a reminder that is not sent yet. */
  waiting: number
  /** People who got a reminder in the last three days. */
  reminded: number
  /** Whether there are more than 1,000. */
  more: boolean
}

/** The visits to the applicants' page in the last 90 days. */
export interface PageVisits {
  /** Whether a server of ours has ever counted. A hosted page counts no visits. */
  is_counted: boolean
  /** Each day, the oldest first. A day is such as `2026-12-31`, in the time zone of deadlines. */
  days: VisitedDay[]
  /** The twenty with the most visits, those first. Blank where the address had no `from`. */
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
