import { statuses } from '../../../application/statuses.ts'
import type { Letter, LettersOverview } from '../../../client/desk/letters.ts'
import { siteRoot } from '../../site-root.ts'
import type { Places } from '../../../client/desk/retreat.ts'
import { hiddenName } from '../data/names.ts'
import { countOf, dayOf, formatNumber, longDayOf, momentOf, shortOf } from '../kit/format.ts'
import { isOfDecision } from './told.ts'

/** The occasion of receipts, which are sent automatically. */
export const receipt = 'received'

/** The occasion of the letters to accepted people who have not answered. */
export const reminder = 'reminder'

/** The occasion of the letters to people who are coming, which are sent automatically if organisers switch them on. */
export const confirmation = 'confirmed'

/** The occasion of the letters to people who are coming and have not answered all required questions. */
export const questionReminder = 'questions'

/** Whether letters of this occasion follow up an acceptance, such as a reminder. Their templates cannot be removed. */
export function isAfterAcceptance(occasion: string): boolean {
  return [reminder, confirmation, questionReminder].includes(occasion)
}

/**
 * Whether an occasion is neither a decision nor the receipt: the reminders, the confirmation, letters to one person, and
 * templates that organisers named.
 */
export function isNeitherDecisionNorReceipt(occasion: string): boolean {
  return !isOfDecision(occasion) && occasion !== receipt
}

/** The placeholders of the invitation, which are filled in only on sending, and the words shown in their place at the desk. */
export const invitationWords = {
  answer_link: 'RSVP link',
  reply_by: 'their deadline',
}

/** The hint for the writer of a letter, about the placeholders of the invitation. */
export const invitationHint = `{{answer_link}} is the ${invitationWords.answer_link}, {{reply_by}} is ${invitationWords.reply_by}.`

/** The placeholder of a receipt's link, by which its recipient can withdraw the application. */
export const withdrawPlaceholder = 'withdraw_link'

/** All placeholders that are filled in only on sending, and their words. */
const laterWords = { ...invitationWords, [withdrawPlaceholder]: 'link to withdraw' }

const laterPlaceholder = /\{\{\s*(answer_link|reply_by|withdraw_link)\s*\}\}/

/** The placeholders about the retreat, and where their values come from. */
export const retreatPlaceholders = ['retreat', 'days', 'venue']

/** The words for placeholders about the retreat that may not be set yet. */
export const retreatWords: Readonly<Record<string, string>> = { days: 'the days', venue: 'the venue' }

/**
 * Splits a text at the placeholders that are filled in only on sending, and replaces them with their words.
 *
 * @param replyBy The deadline if the letter were sent today, as `2026-12-31`.
 */
export function partsOf(text: string, replyBy?: string | null): { words: string; isFilledLater: boolean }[] {
  // The parts at odd positions are the names of placeholders.
  return text.split(laterPlaceholder).map((part, index) => {
    const isPlaceholder = index % 2 === 1 && isLaterPlaceholder(part)
    if (!isPlaceholder) return { words: part, isFilledLater: false }
    return { words: part === 'reply_by' && replyBy ? dayOf(replyBy) : laterWords[part], isFilledLater: true }
  })
}

/** Whether a text has a placeholder that is filled in only on sending. */
export function isFilledLater({ subject, body }: Pick<Letter, 'subject' | 'body'>): boolean {
  return laterPlaceholder.test(subject + body)
}

/** Whether a placeholder is about the invitation. */
export function isInvitationPlaceholder(placeholder: string): placeholder is keyof typeof invitationWords {
  return placeholder in invitationWords
}

function isLaterPlaceholder(placeholder: string): placeholder is keyof typeof laterWords {
  return placeholder in laterWords
}

/** Whether letters of this occasion may ask for an RSVP. */
export function mayAskForRsvp(occasion: string): boolean {
  return occasion === 'accepted' || isNeitherDecisionNorReceipt(occasion)
}

/** The address of the site for links in letters, without a final slash. */
export function siteOfDesk(): string {
  return siteRoot().replace(/\/$/, '')
}

/**
 * Whether a mail sender or an automation sends the letters of this occasion, so that organisers need not. An automation sends
 * only letters about decisions.
 */
export function isSentByServer(occasion: string, postman: LettersOverview['postman']): boolean {
  return postman.is_there || (postman.is_automation_there && isOfDecision(occasion))
}

const occasionNames = new Map([
  [receipt, 'Receipt'],
  [reminder, 'Reminder'],
  [confirmation, 'Confirmation'],
  [questionReminder, 'Question reminder'],
  ['', 'Personal letter'],
])

/** Whether an occasion is this one, or (null) a decision. */
export function isAmong(occasion: string, shown: string | null): boolean {
  return shown === null ? isOfDecision(occasion) : occasion === shown
}

/** The words for an occasion. */
export function nameOfOccasion(occasion: string): string {
  return occasionNames.get(occasion) ?? (isOfDecision(occasion) ? statuses[occasion] : occasion)
}

/**
 * Whether the applicant was sent an earlier letter of this occasion. Here `edition` counts these letters, not retreats. Letters
 * to one person do not count, since each has its own text.
 */
export function wasSentBefore({ occasion, edition }: Pick<Letter, 'occasion' | 'edition'>): boolean {
  return edition > 1 && occasion !== ''
}

/** Whether a draft differs from its template. Letters to one person have no template. */
export function isEdited({ occasion, is_edited }: Pick<Letter, 'occasion' | 'is_edited'>): boolean {
  return is_edited && occasion !== ''
}

/** The recipient's name, or words in place of a hidden name. */
export function nameOfLetter({ name, application }: Pick<Letter, 'name' | 'application'>): string {
  return name === null ? hiddenName(application) : shortOf(name)
}

/** Whether a draft can be sent without changes. */
export function isSendable({ missing, unknown, is_long }: Letter): boolean {
  return missing.length === 0 && unknown.length === 0 && !is_long
}

const kinds: Record<string, string> = {
  accepted: 'acceptance',
  waitlisted: 'waitlist letter',
  declined: 'decline',
  '': 'personal letter',
}

/** The number of letters of each kind: `12 acceptances, 6 waitlist letters, 3 letters “Travel”`. */
export function kindWords(letters: readonly Pick<Letter, 'occasion'>[]): string {
  return [...new Set(letters.map(({ occasion }) => occasion))]
    .map((kind) => {
      const count = letters.filter(({ occasion }) => occasion === kind).length
      const noun = kinds[kind]
      return noun === undefined
        ? `${countOf(count, 'letter')} “${nameOfOccasion(kind)}”`
        : countOf(count, noun)
    })
    .join(', ')
}

/** The first three of several texts, and how many more there are: `Ada, Ben, Cem and 9 more`. */
export function firstWords(texts: readonly string[]): string {
  const more = texts.length - 3
  return `${texts.slice(0, 3).join(', ')}${more > 0 ? ` and ${formatNumber(more)} more` : ''}`
}

/** The first deadline for an RSVP that letters tell if they are sent today, as `2026-12-31`; undefined if none does. */
export function firstDeadlineOf(letters: readonly Letter[]): string | undefined {
  return letters
    .filter((letter) => letter.occasion === 'accepted' || isFilledLater(letter))
    .flatMap(({ reply_by: day }) => day ?? [])
    .toSorted()[0]
}

/**
 * A warning if more people are accepted than there are places; otherwise blank.
 *
 * @param acceptances The number of people whom these letters tell for the first time that they are accepted.
 */
export function overbookedWords(
  { places, free, not_told: notTold }: Pick<Places, 'places' | 'free' | 'not_told'>,
  acceptances: number,
): string {
  // Letters to people of an earlier retreat take no place of this one.
  const added = Math.min(acceptances, notTold)
  if (places === null || free === null || free >= 0 || added === 0) return ''
  const taken = places - free - added
  const these = added === 1 ? 'this acceptance' : `these ${formatNumber(added)} acceptances`
  return `${formatNumber(taken)} of ${countOf(places, 'place')} ${taken === 1 ? 'is' : 'are'} taken. With ${these} it is ${formatNumber(places - free)}.`
}

/** Whether a draft has the link for the RSVP. */
export const asksForRsvp = ({ subject, body }: Pick<Letter, 'subject' | 'body'>): boolean =>
  /\{\{\s*answer_link\s*\}\}/.test(subject + body)

/** The warning at letters whose link for the RSVP cannot be made. */
export const noSiteWords =
  'The page’s address is not known, so no link for an RSVP is sent. Ask your operator to set SITE_URL first.'

/** The sentence about an address at which a letter failed; blank if none did. */
export function failedAddressWords(failedAt: string | null | undefined): string {
  return failedAt ? `A letter to this address was not delivered on ${longDayOf(failedAt)}.` : ''
}

/**
 * The letters to an applicant that failed, or that can still come back: the last of each occasion, if it is not drafted again. A
 * decision that an automation was told beside the email is not among them.
 */
export function returnableLetters(letters: readonly Letter[]): Letter[] {
  const main = letters.filter(
    (letter) => letter.state !== 'withdrawn' && (letter.way === 'mail' || !mailBeside(letter, letters)),
  )
  const isLast = ({ id, occasion }: Letter) =>
    occasion === '' || main.findLast((each) => each.occasion === occasion)?.id === id
  return main.filter(
    (letter) =>
      isLast(letter) && (isFailed(letter) || (letter.state === 'sent' && letter.otherwise !== 'told')),
  )
}

/** Whether a letter could not be delivered, and is not retried. */
export function isFailed({ state }: Pick<Letter, 'state'>): boolean {
  return state === 'refused' || state === 'given up'
}

/** The number of attempts to send a letter, in words. */
export function triesOf({ attempts }: Pick<Letter, 'attempts'>): string {
  return `${attempts} ${attempts === 1 ? 'try' : 'tries'}`
}

interface LetterEvent {
  key: string
  at: string
  author: string | null
  text: string
  /** The letter, which only its first event shows. */
  letter?: Letter
}

/** The events of letters for the timeline; drafts have none. */
export function eventsOf(letters: readonly Letter[]): LetterEvent[] {
  return letters.flatMap((letter): LetterEvent[] => {
    const { id, author, state, otherwise, withdrawn_by: withdrawnBy } = letter
    const { released_at: releasedAt, sent_at: sentAt, withdrawn_at: withdrawnAt } = letter
    if (state === 'draft' || releasedAt === null) return []
    const about = nameInSentence(letter)
    if (otherwise === 'by hand')
      return [{ key: `${id} sent`, at: releasedAt, author, text: `${about} sent by hand`, letter }]
    const mail = letter.way === 'automation' ? mailBeside(letter, letters) : undefined
    const words = eventWordsOf(letter)
    return [
      // Nobody releases a receipt. A decision that is sent by email and to the automation has one event of release, the email's.
      ...(letter.occasion === receipt || mail !== undefined
        ? []
        : [{ key: `${id} released`, at: releasedAt, author, text: words.released, letter }]),
      // The application's own history has the event `told`.
      ...(sentAt === null || otherwise === 'told'
        ? []
        : [{ key: `${id} sent`, at: sentAt, author: null, text: words.sent }]),
      ...(state === 'withdrawn' && withdrawnAt !== null && mail?.state !== 'withdrawn'
        ? [{ key: `${id} withdrawn`, at: withdrawnAt, author: withdrawnBy, text: words.withdrawn }]
        : []),
    ]
  })
}

/** The email that was released together with a letter to an automation. */
function mailBeside({ act, application }: Letter, letters: readonly Letter[]) {
  return letters.find((each) => each.way === 'mail' && each.act === act && each.application === application)
}

function eventWordsOf(letter: Letter) {
  const about = nameInSentence(letter)
  if (letter.way === 'mail')
    return { released: `${about} on the way`, sent: `${about} sent`, withdrawn: `${about} stopped` }
  return {
    released: `${about} on the way to the automation`,
    sent: `${about} passed to the automation`,
    withdrawn: `${about} not passed to the automation: stopped`,
  }
}

/** The name of a letter in sentences: a receipt, a letter or, for an automation, the decision. */
function nameInSentence({ occasion, way, subject }: Letter) {
  if (occasion === receipt) return nameOfOccasion(occasion)
  const readable = partsOf(subject).map(({ words }) => words)
  const about = occasion === '' ? shortOf(readable.join('')) : nameOfOccasion(occasion)
  return `${way === 'mail' ? 'Letter ' : ''}“${about}”`
}

/** A sentence about a released letter that was not sent yet or not delivered; otherwise blank. */
export function wordsOfLetter(letter: Letter): string {
  const { state, answer, attempts, due_at: dueAt } = letter
  const isMail = letter.way === 'mail'
  const about = nameInSentence(letter)
  const reply = answer === '' ? '' : `: ${answer}`
  const when = dueAt === null ? '' : ` after ${momentOf(dueAt)}`
  switch (state) {
    case 'waiting':
      return `${about} will be ${isMail ? 'sent' : 'passed to the automation'}${when}${
        attempts === 0 ? '.' : `, after ${triesOf(letter)}${reply}`
      }`
    case 'sending':
      return `${about} is being ${isMail ? 'sent' : 'passed to the automation'}.`
    case 'refused':
      // An organiser recorded it. No server refused it.
      if (letter.answer === cameBack) return `${about} came back.`
      return `${about} was refused by the ${isMail ? 'mail server' : 'automation'}${reply}`
    case 'given up':
      return `${about} ${isMail ? 'was not delivered' : 'did not reach the automation'} after ${triesOf(letter)}${reply}`
    case 'draft':
    case 'sent':
    case 'withdrawn':
      return ''
  }
}

/** The answer of a letter of which an organiser recorded that it came back (`private.return_letter`). */
const cameBack = 'It came back.'

/** Seconds for which a due letter is probably being sent. */
const sendingSeconds = 30

/** Whether a letter became due a moment ago, and is not known to be sent yet. */
export function isBeingSent(
  { state, due_at: dueAt }: Pick<Letter, 'state' | 'due_at'>,
  now = Date.now(),
): boolean {
  const age = (now - Date.parse(dueAt ?? '')) / 1000
  return (state === 'waiting' || state === 'sending') && age >= 0 && age < sendingSeconds
}

/**
 * The message after sending was resumed: how many letters will be sent, and when.
 *
 * @param seconds Seconds until they are sent.
 */
export function leavingWords(count: number, seconds: number): string {
  if (count === 0) return 'Sending resumed.'
  return `${countOf(count, 'letter')} will be sent in ${clockOf(seconds)}.`
}

/** Seconds in clock format: `1:05`. */
export function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
