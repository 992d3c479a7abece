/** The announcement of the applications that a server will erase. It is made each day. */
export interface Announcement {
  /** The number of applications, counted up to 10,001 for each retreat. */
  applications: number
  /** The day on which the first of them is erased, as `2026-12-31`. */
  from: string
  /** The number of days, of the seven that are needed, on which it has been announced. */
  days: number
}
