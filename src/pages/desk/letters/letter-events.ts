import type { Letter } from '../../../client/desk.ts'
import { momentOf } from '../dates.ts'
import { nameOfOccasion } from './words.ts'

interface LetterEvent {
  key: string
  at: string
  author: string | null
  text: string
}

/** What the database keeps of a letter that somebody sent from their own mail program. */
const byHand = 'sent by hand'

/** What happened to letters; a draft is nothing that happened. */
export function eventsOf(letters: readonly Letter[]): LetterEvent[] {
  return letters.flatMap((letter): LetterEvent[] => {
    const { id, author, answer, released_at: releasedAt, sent_at: sentAt, withdrawn_at: withdrawnAt } = letter
    const about = `“${nameOfOccasion(letter.occasion)}”`
    if (letter.state === 'draft' || releasedAt === null) return []
    if (letter.state === 'sent' && answer === byHand)
      return [{ key: `${id} sent`, at: releasedAt, author, text: `Letter ${about} sent by hand` }]
    return [
      { key: `${id} released`, at: releasedAt, author, text: `Letter ${about} released` },
      ...(sentAt === null
        ? []
        : [{ key: `${id} sent`, at: sentAt, author: null, text: `Letter ${about} sent` }]),
      ...(letter.state === 'withdrawn' && withdrawnAt !== null
        ? [{ key: `${id} withdrawn`, at: withdrawnAt, author: null, text: `Letter ${about} withdrawn` }]
        : []),
    ]
  })
}

/** How it stands with a letter that was released and did not arrive; blank where there is nothing to say. */
export function wordsOfLetter({ state, occasion, answer, attempts, due_at: dueAt }: Letter): string {
  const about = `Letter “${nameOfOccasion(occasion)}”`
  const tries = `${attempts} ${attempts === 1 ? 'try' : 'tries'}`
  const said = answer === '' ? '' : `: ${answer}`
  switch (state) {
    case 'waiting':
      return `${about} is waiting${dueAt === null ? '' : `, not to leave before ${momentOf(dueAt)}`}${
        attempts === 0 ? '.' : `, after ${tries}${said}`
      }`
    case 'sending':
      return `${about} is being handed over.`
    case 'refused':
      return `${about} was refused by the mail server${said}`
    case 'given up':
      return `${about} was given up after ${tries}${said}`
    case 'draft':
    case 'sent':
    case 'withdrawn':
      return ''
  }
}
