import type { Listed } from './applications.ts'

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
