import { statuses, type Status } from '../../../application/statuses.ts'
import type { Letter, LettersOverview } from '../../../client/desk/letters.ts'
import { siteRoot } from '../../site-root.ts'
import { shortOf } from '../kit/format.ts'

/** The decisions that applicants are told of. */
const told: readonly string[] = ['accepted', 'waitlisted', 'declined'] satisfies Status[]

/** The occasion of the receipts, which go by themselves. */
export const received = 'received'

/** The occasion of the letters to accepted people who have not answered. */
export const reminder = 'reminder'

/** Whether letters of this occasion tell a decision. */
export function isOfDecision(occasion: string): occasion is Status {
  return told.includes(occasion)
}

/** Whether organisers named this occasion. */
export function isNamed(occasion: string): boolean {
  return !isOfDecision(occasion) && occasion !== received
}

/** The placeholders that are filled in only when a letter is handed over, and the words that its reader at the desk sees instead. */
export const placeWords = {
  answer_link: 'their link to answer',
  reply_by: 'the last day to answer',
}

/** The same words for whoever writes a letter. */
export const placeHint = `{{answer_link}} is ${placeWords.answer_link}, {{reply_by}} is ${placeWords.reply_by}.`

const placePlaceholder = /\{\{\s*(answer_link|reply_by)\s*\}\}/

/** Cuts a text at the placeholders that stay in it: every second part is the name of one. */
export function partsOf(text: string): string[] {
  return text.split(placePlaceholder)
}

/** A text with words in place of these. */
export function readable(text: string): string {
  return partsOf(text)
    .map((part, place) => (place % 2 === 1 && isOfPlace(part) ? placeWords[part] : part))
    .join('')
}

/** Whether a text has a placeholder that is filled in only when the letter is handed over. */
export function isFilledLater({ subject, body }: Pick<Letter, 'subject' | 'body'>): boolean {
  return placePlaceholder.test(subject + body)
}

/** Whether a placeholder is about the place that is kept for somebody. */
export function isOfPlace(placeholder: string): placeholder is keyof typeof placeWords {
  return placeholder in placeWords
}

/** Whether letters of this occasion may ask whether somebody comes. */
export function mayAsk(occasion: string): boolean {
  return occasion === 'accepted' || (occasion !== received && !isOfDecision(occasion))
}

/** Where the site is, as letters have it. */
export function siteOfDesk(): string {
  return siteRoot().replace(/\/$/, '')
}

/** Whether a server sends letters of this occasion. An automation is told of decisions alone. */
export function isCarried(occasion: string, postman: LettersOverview['postman']): boolean {
  return postman.is_there || (postman.is_automation_there && isOfDecision(occasion))
}

/** An occasion as organisers read it. */
export function nameOfOccasion(occasion: string): string {
  if (occasion === received) return 'Receipt'
  if (occasion === reminder) return 'Reminder'
  if (occasion === '') return 'To one person'
  return isOfDecision(occasion) ? statuses[occasion] : occasion
}

/** Whether they were sent this before; letters to one person are counted, and say something else each time. */
export function isAgain({ occasion, edition }: Pick<Letter, 'occasion' | 'edition'>): boolean {
  return edition > 1 && occasion !== ''
}

/** The name of the person a letter is for; where that is hidden, the application that it belongs to. */
export function nameOfLetter({ name }: Pick<Letter, 'name'>): string {
  return name === null ? 'Application' : shortOf(name)
}

/** Whether a draft may be sent as it is. */
export function isSendable({ missing, unknown, is_long }: Letter): boolean {
  return missing.length === 0 && unknown.length === 0 && !is_long
}
