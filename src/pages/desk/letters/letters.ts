import { statuses, type Status } from '../../../application/statuses.ts'
import type { Letter, LettersOverview } from '../../../client/desk/letters.ts'
import { siteRoot } from '../../site-root.ts'
import { countOf, momentOf, shortOf } from '../kit/format.ts'

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

/** The parts of a text, with words in place of the placeholders that stay in it. */
export function partsOf(text: string): { words: string; isFilledLater: boolean }[] {
  return text.split(placePlaceholder).map((part, place) => {
    const isPlaceholder = place % 2 === 1 && isOfPlace(part)
    return { words: isPlaceholder ? placeWords[part] : part, isFilledLater: isPlaceholder }
  })
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
  return occasion === 'accepted' || isNamed(occasion)
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

/** Whether a draft says something else than its template; a letter to one person has none. */
export function isEdited({ occasion, is_edited }: Pick<Letter, 'occasion' | 'is_edited'>): boolean {
  return is_edited && occasion !== ''
}

/** The name of the person a letter is for; where that is hidden, the application that it belongs to. */
export function nameOfLetter({ name }: Pick<Letter, 'name'>): string {
  return name === null ? 'Application' : shortOf(name)
}

/** Whether a draft may be sent as it is. */
export function isSendable({ missing, unknown, is_long }: Letter): boolean {
  return missing.length === 0 && unknown.length === 0 && !is_long
}

/** How often it was tried to hand a letter over, in words. */
export function triesOf({ attempts }: Pick<Letter, 'attempts'>): string {
  return `${attempts} ${attempts === 1 ? 'try' : 'tries'}`
}

interface LetterEvent {
  key: string
  at: string
  author: string | null
  text: string
  /** The letter whose text is shown at this event, the first that tells of it. */
  letter?: Letter
}

/** What happened to letters; a draft is nothing that happened. */
export function eventsOf(letters: readonly Letter[]): LetterEvent[] {
  return letters.flatMap((letter): LetterEvent[] => {
    const { id, author, state, otherwise, withdrawn_by: withdrawnBy } = letter
    const { released_at: releasedAt, sent_at: sentAt, withdrawn_at: withdrawnAt } = letter
    if (state === 'draft' || releasedAt === null) return []
    const about = subjectOf(letter)
    if (otherwise === 'by hand')
      return [{ key: `${id} sent`, at: releasedAt, author, text: `${about} sent by hand`, letter }]
    const mail = letter.way === 'automation' ? mailBeside(letter, letters) : undefined
    const words = eventWordsOf(letter)
    return [
      // Nobody releases a receipt, and a decision that goes by mail and to the automation was released once.
      ...(letter.occasion === received || mail !== undefined
        ? []
        : [{ key: `${id} released`, at: releasedAt, author, text: words.released, letter }]),
      // The application's own history says that it was told otherwise.
      ...(sentAt === null || otherwise === 'told'
        ? []
        : [{ key: `${id} sent`, at: sentAt, author: null, text: words.sent }]),
      ...(state === 'withdrawn' && withdrawnAt !== null && mail?.state !== 'withdrawn'
        ? [{ key: `${id} withdrawn`, at: withdrawnAt, author: withdrawnBy, text: words.withdrawn }]
        : []),
    ]
  })
}

/** The mail that was released together with what an automation is told. */
function mailBeside({ act, application }: Letter, letters: readonly Letter[]) {
  return letters.find((each) => each.way === 'mail' && each.act === act && each.application === application)
}

function eventWordsOf(letter: Letter) {
  const about = subjectOf(letter)
  if (letter.way === 'mail')
    return { released: `${about} released`, sent: `${about} sent`, withdrawn: `${about} withdrawn` }
  return {
    released: `${about} released to the automation`,
    sent: `Automation told: ${about}`,
    withdrawn: `Automation not told: ${about} withdrawn`,
  }
}

/** What a letter is called in a sentence: a receipt, a letter, or, for an automation, the decision. */
function subjectOf({ occasion, way, subject }: Letter) {
  if (occasion === received) return nameOfOccasion(occasion)
  const readable = partsOf(subject).map(({ words }) => words)
  const about = occasion === '' ? shortOf(readable.join('')) : nameOfOccasion(occasion)
  return `${way === 'mail' ? 'Letter ' : ''}“${about}”`
}

/** A sentence about a letter that was released and has not arrived; blank where there is nothing to say. */
export function wordsOfLetter(letter: Letter): string {
  const { state, answer, attempts, due_at: dueAt } = letter
  const isMail = letter.way === 'mail'
  const about = subjectOf(letter)
  const said = answer === '' ? '' : `: ${answer}`
  const when = dueAt === null ? '' : `, not ${isMail ? 'to leave ' : ''}before ${momentOf(dueAt)}`
  switch (state) {
    case 'waiting':
      return `${isMail ? `${about} is waiting` : `The automation is told ${about}`}${when}${
        attempts === 0 ? '.' : `, after ${triesOf(letter)}${said}`
      }`
    case 'sending':
      return isMail ? `${about} is being handed over.` : `The automation is being told ${about}.`
    case 'refused':
      return isMail
        ? `${about} was refused by the mail server${said}`
        : `The automation refused to be told ${about}${said}`
    case 'given up':
      return isMail
        ? `${about} was given up after ${triesOf(letter)}${said}`
        : `The automation was not reached to be told ${about}, after ${triesOf(letter)}${said}`
    case 'draft':
    case 'sent':
    case 'withdrawn':
      return ''
  }
}

/** How many letters leave, and when. */
export function leavingWords(count: number, seconds: number): string {
  if (count === 0) return 'Letters leave again.'
  return `${countOf(count, 'letter')} ${count === 1 ? 'leaves' : 'leave'} in ${clockOf(seconds)}.`
}

/** Seconds as a clock shows them: `1:05`. */
export function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
