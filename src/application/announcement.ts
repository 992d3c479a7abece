/** The announcement that servers will erase applications. Nothing is erased before its seventh day. */
export interface Announcement {
  /** The number of applications, counted up to 10,001 for each retreat. */
  applications: number
  /** The day on which the first of these applications is erased, as `2026-12-31`. */
  from: string
  /** The number of days on which the erasure was announced so far. */
  days: number
}
