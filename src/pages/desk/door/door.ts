import { closedSentence } from '../../../application/limits.ts'
import type { Door } from '../../../client/desk/retreat.ts'
import { countOf, digits, momentOf } from '../kit/format.ts'

type DoorState = Omit<Door, 'version' | 'opened_at'>

/** How the door stands, in one sentence. */
export function doorSentence(door: DoorState): string {
  if (!door.is_open) return `The door is closed${reasonOf(door)}. Applicants read: “${sentenceFor(door)}”`
  return `${['The door is open', ...limitsOf(door)].join(', ')}.`
}

function limitsOf({ closes_at: at, closes_after: after, received }: DoorState) {
  return [
    ...(at === null ? [] : [`until ${momentOf(at)}`]),
    ...(after === null
      ? []
      : [
          `for ${countOf(after - received, 'more application')}: ${digits(received)} of ${digits(after)} came`,
        ]),
  ]
}

/** Why it is closed, where nobody closed it by hand. */
function reasonOf({ closed, closes_at: at, closes_after: after, received }: DoorState) {
  if (closed) return ''
  if (after !== null && received >= after)
    return `: ${countOf(after, 'application')} came, as many as it was to take`
  return at === null ? '' : ` since ${momentOf(at)}`
}

/** How an organiser left the door, in a few words. */
export function doorWordsOf(door: Omit<DoorState, 'received'>) {
  if (door.closed) return `Door closed: “${sentenceFor(door)}”`
  const limits = [
    ...(door.closes_at === null ? [] : [`until ${momentOf(door.closes_at)}`]),
    ...(door.closes_after === null ? [] : [`for ${countOf(door.closes_after, 'application')}`]),
  ]
  return ['Door open', ...limits].join(', ')
}

function sentenceFor({ sentence }: Pick<Door, 'sentence'>) {
  return sentence === '' ? closedSentence : sentence
}

/** What stands in the fields of the door's form. */
export interface Entries {
  closed: boolean
  sentence: string
  /** As a field of this type has it, in the organiser's own time zone: `2026-12-31T18:00`. */
  closesAt: string
  closesAfter: string
}

/**
 * What the form begins with. Where the door closed by itself, it stands as closed: so whoever changes the sentence
 * alone does not open it again, and each opening begins without the conditions of the one before.
 */
export function entriesOf({ is_open: isOpen, sentence, closes_at: at, closes_after: after }: Door): Entries {
  return {
    closed: !isOpen,
    sentence,
    closesAt: isOpen && at !== null ? localTimeOf(at) : '',
    closesAfter: isOpen && after !== null ? String(after) : '',
  }
}

/** What is to be saved of them, as a change of the door that is shown. */
export function changeFrom({ closed, sentence, closesAt, closesAfter }: Entries, door: Door) {
  // A moment that nobody touched keeps the seconds that the field does not show.
  const isSame = door.closes_at !== null && localTimeOf(door.closes_at) === closesAt
  return {
    version: door.version,
    closed,
    sentence: sentence.trim(),
    closes_at: closed || closesAt === '' ? null : isSame ? door.closes_at : new Date(closesAt).toISOString(),
    closes_after: closed || closesAfter === '' ? null : Number(closesAfter),
  }
}

/** A moment as a field for a date and a time has it. */
export function localTimeOf(moment: string | number): string {
  // Swedish writes a date and a time as ISO 8601 does.
  return new Date(moment).toLocaleString('sv').slice(0, 16).replace(' ', 'T')
}
