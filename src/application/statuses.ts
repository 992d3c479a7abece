/** The statuses of an application, and what organisers read for each. New means that nobody decided yet. */
export const statuses = {
  new: 'New',
  shortlisted: 'Shortlisted',
  accepted: 'Accepted',
  waitlisted: 'Waitlisted',
  declined: 'Declined',
} as const

export type Status = keyof typeof statuses

/** Whether an accepted applicant has answered. `late`: they have not, and the last day to answer is over. */
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
