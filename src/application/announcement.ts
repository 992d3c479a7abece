/** Applications that a server will erase, as it announces each day. */
export interface Announcement {
  /** Counted up to 10,001 for each retreat. */
  applications: number
  /** The day of the first erasing, as `2026-12-31`. */
  from: string
  /** The number of days, of seven, on which it was announced so far. */
  days: number
}
