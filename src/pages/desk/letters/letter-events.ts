import type { Letter } from '../../../client/desk/letters.ts'
import { momentOf, shortOf } from '../kit/format.ts'
import { nameOfOccasion, readable, received } from './letters.ts'

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
    const {
      id,
      author,
      otherwise,
      released_at: releasedAt,
      sent_at: sentAt,
      withdrawn_at: withdrawnAt,
    } = letter
    if (letter.state === 'draft' || releasedAt === null) return []
    const mail = letter.way === 'automation' ? mailBeside(letter, letters) : undefined
    const words = eventWordsOf(letter)
    if (letter.state === 'sent' && otherwise === 'by hand')
      return [{ key: `${id} sent`, at: releasedAt, author, text: `${words.about} sent by hand`, letter }]
    return [
      // Nobody releases a receipt, and a decision that goes by mail and to the automation was released once.
      ...(letter.occasion === received || mail !== undefined
        ? []
        : [{ key: `${id} released`, at: releasedAt, author, text: words.released, letter }]),
      // The application's own history says that it was told otherwise.
      ...(sentAt === null || otherwise === 'told'
        ? []
        : [{ key: `${id} sent`, at: sentAt, author: null, text: words.sent }]),
      ...(letter.state === 'withdrawn' && withdrawnAt !== null && mail?.state !== 'withdrawn'
        ? [{ key: `${id} withdrawn`, at: withdrawnAt, author: letter.withdrawn_by, text: words.withdrawn }]
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
    return { about, released: `${about} released`, sent: `${about} sent`, withdrawn: `${about} withdrawn` }
  return {
    about,
    released: `${about} released to the automation`,
    sent: `Automation told: ${about}`,
    withdrawn: `Automation not told: ${about} withdrawn`,
  }
}

/** What a letter is called in a sentence: a receipt, a letter, or, for an automation, the decision. */
function subjectOf({ occasion, way, subject }: Letter) {
  if (occasion === received) return nameOfOccasion(occasion)
  const about = occasion === '' ? shortOf(readable(subject)) : nameOfOccasion(occasion)
  return `${way === 'mail' ? 'Letter ' : ''}“${about}”`
}

/** A sentence about a letter that was released and has not arrived; blank where there is nothing to say. */
export function wordsOfLetter(letter: Letter): string {
  const { state, answer, attempts, due_at: dueAt } = letter
  const isMail = letter.way === 'mail'
  const about = subjectOf(letter)
  const tries = `${attempts} ${attempts === 1 ? 'try' : 'tries'}`
  const said = answer === '' ? '' : `: ${answer}`
  const when = dueAt === null ? '' : `, not ${isMail ? 'to leave ' : ''}before ${momentOf(dueAt)}`
  switch (state) {
    case 'waiting':
      return `${isMail ? `${about} is waiting` : `The automation is told ${about}`}${when}${
        attempts === 0 ? '.' : `, after ${tries}${said}`
      }`
    case 'sending':
      return isMail ? `${about} is being handed over.` : `The automation is being told ${about}.`
    case 'refused':
      return isMail
        ? `${about} was refused by the mail server${said}`
        : `The automation refused to be told ${about}${said}`
    case 'given up':
      return isMail
        ? `${about} was given up after ${tries}${said}`
        : `The automation was not reached to be told ${about}, after ${tries}${said}`
    case 'draft':
    case 'sent':
    case 'withdrawn':
      return ''
  }
}
