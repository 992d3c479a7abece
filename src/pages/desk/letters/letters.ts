import { statuses, type Status } from '../../../application/statuses.ts'
import type { Letter, LettersOverview } from '../../../client/desk.ts'
import { shortOf } from '../kit/format.ts'

/** The decisions that applicants are told of. */
const told: readonly string[] = ['accepted', 'waitlisted', 'declined'] satisfies Status[]

/** The occasion of the receipts, which go by themselves. */
export const received = 'received'

/** Whether letters of this occasion tell a decision. */
export function isOfDecision(occasion: string): occasion is Status {
  return told.includes(occasion)
}

/** Whether organisers named this occasion. */
export function isNamed(occasion: string): boolean {
  return !isOfDecision(occasion) && occasion !== received
}

/** Whether somebody carries letters of this occasion; an automation is told of decisions alone. */
export function isCarried(occasion: string, postman: LettersOverview['postman']): boolean {
  return postman.is_there || (postman.is_automation_there && isOfDecision(occasion))
}

/** An occasion as organisers read it. */
export function nameOfOccasion(occasion: string): string {
  if (occasion === received) return 'Receipt'
  if (occasion === '') return 'To one person'
  return isOfDecision(occasion) ? statuses[occasion] : occasion
}

/** Whether they were sent this before; letters to one person are counted, and say something else each time. */
export function isAgain({ occasion, edition }: Pick<Letter, 'occasion' | 'edition'>): boolean {
  return edition > 1 && occasion !== ''
}

/** Whom a letter is for; where that is hidden, what it belongs to. */
export function nameOfLetter({ name }: Pick<Letter, 'name'>): string {
  return name === null ? 'Application' : shortOf(name)
}

/** Whether a draft may be sent as it is. */
export function isSendable({ missing, unknown, is_long }: Letter): boolean {
  return missing.length === 0 && unknown.length === 0 && !is_long
}
