import type { Announcement } from '../../application/announcement.ts'
import type { Edition } from './editions.ts'

/** The number of months after a retreat until applications are erased; null means never. */
export interface RetentionMonths {
  months: number | null
  /** The same for guests: people whose last RSVP was that they are coming. */
  months_for_guests: number | null
}

/** How long applications are kept. */
export interface Retention extends RetentionMonths {
  /** The number of changes. A change must name the version that the organiser saw. */
  version: number
  /** The number of applications that are due to be erased today, counted up to 10,001. */
  due: number
  announced: Announcement | null
  /** All retreats, the newest first, with the days on which their applications and those of guests are erased; null for never. */
  editions: (Pick<Edition, 'id' | 'name' | 'ends_on'> & {
    erased_on: string | null
    guests_erased_on: string | null
  })[]
  /** The latest hundred holds. Organisers who read blind get no names and no reasons. */
  holds: (Omit<Hold, 'reason'> & {
    id: string
    first_name?: string
    /** The email, if the name shows nothing. */
    name?: string
    last_name?: string
    reason?: string
  })[]
}

/** A hold: an organiser keeps an application from automatic erasure (`desk_hold`). */
export interface Hold {
  /** Null for organisers who read blind. */
  reason: string | null
  held_by: string
  held_at: string
}
