/** The statuses of an application, and their labels. New: nobody has decided yet. `aside`: junk that organisers put aside. */
export const statuses = {
  new: 'New',
  shortlisted: 'Shortlisted',
  accepted: 'Accepted',
  waitlisted: 'Waitlisted',
  declined: 'Declined',
  aside: 'Put aside',
} as const

/** The status of an application, as the database stores it. */
export type Status = keyof typeof statuses

/**
 * The states of an accepted applicant's RSVP, and their labels. `not told`: no letter has asked for an RSVP yet. `late`: there is
 * no RSVP, and the deadline has passed.
 */
export const rsvpStates = {
  coming: 'Coming',
  'not coming': 'Not coming',
  'no answer': 'No answer yet',
  late: 'Late',
  'not told': 'Not told yet',
} as const

/** The state of an accepted person's RSVP, as the database computes it. */
export type RsvpState = keyof typeof rsvpStates

/** An RSVP that somebody gave. */
export type Rsvp = Extract<RsvpState, 'coming' | 'not coming'>
