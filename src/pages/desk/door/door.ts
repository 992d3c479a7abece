import { closedSentence } from '../../../application/limits.ts'
import type { Door } from '../../../client/desk/retreat.ts'
import { countOf, digits, localTimeOf, momentOf } from '../kit/format.ts'

type DoorState = Omit<Door, 'version' | 'opened_at'>

/** How the door stands, in one sentence. */
export function doorSentence(door: DoorState): string {
  if (!door.is_open) return `The door is closed${reasonOf(door)}. Applicants read: “${sentenceFor(door)}”`
  const { received } = door
  const limits = limitsOf(door, (after) => {
    return `${countOf(after - received, 'more application')}: ${digits(received)} of ${digits(after)} came`
  })
  return `${['The door is open', ...limits].join(', ')}.`
}

/** Until when it is open, and for how many. */
function limitsOf(door: Pick<Door, 'closes_at' | 'closes_after'>, forHowMany: (after: number) => string) {
  return [
    ...(door.closes_at === null ? [] : [`until ${momentOf(door.closes_at)}`]),
    ...(door.closes_after === null ? [] : [`for ${forHowMany(door.closes_after)}`]),
  ]
}

/** The reason, where the door closed by itself. */
function reasonOf({ closed, closes_at: at, closes_after: after, received }: DoorState) {
  if (closed) return ''
  if (after !== null && received >= after) return `: it reached its limit of ${countOf(after, 'application')}`
  return at === null ? '' : ` since ${momentOf(at)}`
}

/** How an organiser left the door, in a few words. */
export function doorWordsOf(door: Omit<DoorState, 'received'>) {
  if (door.closed) return `Door closed: “${sentenceFor(door)}”`
  return ['Door open', ...limitsOf(door, (after) => countOf(after, 'application'))].join(', ')
}

function sentenceFor({ sentence }: Pick<Door, 'sentence'>) {
  return sentence === '' ? closedSentence : sentence
}

/** What stands in the fields of the door's form. */
export interface Entries {
  closed: boolean
  sentence: string
  /** A time as the browser's field has it, in the organiser's time zone: `2026-12-31T18:00`. */
  closesAt: string
  closesAfter: string
}

/**
 * The values that the form begins with. A door that closed automatically is shown as closed, so that nobody opens it by
 * changing the sentence alone. A closing time that is still ahead is kept for the next opening; a number of applications is not,
 * since it counts from the opening.
 *
 * @param now When the door was read, in milliseconds.
 */
export function entriesOf(door: Door, now: number): Entries {
  const { is_open: isOpen, sentence, closes_at: at, closes_after: after } = door
  return {
    closed: !isOpen,
    sentence,
    closesAt: at !== null && (isOpen || Date.parse(at) > now) ? localTimeOf(at) : '',
    closesAfter: isOpen && after !== null ? String(after) : '',
  }
}

/** The change of the door that saves these values. */
export function changeFrom({ closed, sentence, closesAt, closesAfter }: Entries, door: Door) {
  // A time that nobody changed keeps its seconds, which the field does not show.
  const isSame = door.closes_at !== null && localTimeOf(door.closes_at) === closesAt
  return {
    version: door.version,
    closed,
    sentence: sentence.trim(),
    closes_at: isSame ? door.closes_at : closed || closesAt === '' ? null : new Date(closesAt).toISOString(),
    closes_after: closed || closesAfter === '' ? null : Number(closesAfter),
  }
}
