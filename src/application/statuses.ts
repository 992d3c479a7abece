/** Where an application stands, and what organisers read. New is what nobody decided on. */
export const statuses = {
  new: 'New',
  shortlisted: 'Shortlisted',
  accepted: 'Accepted',
  waitlisted: 'Waitlisted',
  declined: 'Declined',
} as const

export type Status = keyof typeof statuses

/** How it stands with the answer of who is accepted. Who is late has given none, and the time for it is over. */
export const answerStates = {
  coming: 'Coming',
  'not coming': 'Not coming',
  'no answer': 'No answer yet',
  late: 'Late',
  'not told': 'Not told yet',
} as const

export type AnswerState = keyof typeof answerStates

/** What somebody who is accepted may answer. */
export type Answer = Extract<AnswerState, 'coming' | 'not coming'>
