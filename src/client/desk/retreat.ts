import type { Listed } from './applications.ts'

/** Whether applications are taken. */
export interface Door {
  /** Goes up with each change, and down by one when the door closes by itself. Whoever changes the door says which version they saw. */
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

/** Something that happened at the desk and to no application. */
export type GeneralHappening = { at: string; author: string } & (
  | { kind: 'door'; detail: Omit<Door, 'version' | 'received'> }
  | { kind: 'erased'; detail: { applications: number } }
  | { kind: 'blind'; detail: { on: boolean } }
  /** The time zone where it changed. */
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
  happenings: ({ id: number } & GeneralHappening)[]
  /** Where the next one begins; null at the end. */
  next: { id: number } | null
}

/** How many places there are, and who comes. */
export interface Places {
  version: number
  /** Null where nobody said how many there are. */
  places: number | null
  /** For how many days a place is kept. */
  days: number
  /** The time zone in which a day ends, `UTC` until one is set, and which day it is there. */
  zone: string
  is_zone_set: boolean
  today: string
  /** Where the site is; blank where no server knows it. */
  site: string
  coming: number
  not_coming: number
  /** People who were told and have not answered, those who are `late` included. */
  no_answer: number
  late: number
  /** People who are accepted and whom no letter has told so. */
  not_told: number
  /** Null where nobody said how many places there are; negative where more people were accepted than that. */
  free: number | null
  /** People on the waitlist; undefined where the server is older than the desk. */
  waitlisted?: number
  /** The first twenty of them, and since when they are on it. */
  waitlist: (Listed & { set_at: string })[]
}

/** People for whom a reminder was drafted. */
export interface Reminded {
  drafted: number
  /** Those of them whose last day is over: it has to be moved before the reminder can be sent. */
  late: number
  /** People who have a reminder that has not left yet. */
  waiting: number
  /** People who were sent a reminder in the last three days. */
  reminded: number
  /** Whether there are more than a thousand. */
  more: boolean
}
