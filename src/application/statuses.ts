/** Where an application stands, and what organisers read. New is what nobody decided on. */
export const statuses = {
  new: 'New',
  shortlisted: 'Shortlisted',
  accepted: 'Accepted',
  waitlisted: 'Waitlisted',
  declined: 'Declined',
} as const

export type Status = keyof typeof statuses
