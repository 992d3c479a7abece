import { closedSentence } from '../../../application/limits.ts'
import type { Door } from '../../../client/desk/retreat.ts'
import { browserTimeZone, countOf, formatNumber, localTimeOf, momentOf, zoneWords } from '../kit/format.ts'

type DoorState = Omit<Door, 'version' | 'opened_at'>

/** The state of the door, in a sentence, and the sentence that applicants read if it is closed. */
export function doorSentence(door: DoorState): string {
  if (!door.is_open) return `The door ${closedWords(door)}. Applicants read: “${sentenceFor(door)}”`
  const { received } = door
  const limits = limitsOf(door, (after) => {
    return `${countOf(after - received, 'more application')} (${formatNumber(received)} of ${formatNumber(after)} received)`
  })
  return `${['The door is open', ...limits].join(', ')}.`
}

/** The closing time and the number of applications, in words. */
function limitsOf(door: Pick<Door, 'closes_at' | 'closes_after'>, countWords: (after: number) => string) {
  return [
    ...(door.closes_at === null ? [] : [`until ${momentOf(door.closes_at)}`]),
    ...(door.closes_after === null ? [] : [`for ${countWords(door.closes_after)}`]),
  ]
}

/** The words for a closed door, with the reason if it closed automatically. */
function closedWords({ closed, closes_at: at, closes_after: after, received }: DoorState) {
  if (!closed && after !== null && received >= after)
    return `is closed: it reached its limit of ${countOf(after, 'application')}`
  return closed || at === null ? 'is closed' : `has been closed since ${momentOf(at)}`
}

/** The door after a change by an organiser, in a few words. */
export function doorWordsOf(door: Omit<DoorState, 'received'>) {
  if (door.closed) return `Door closed: “${sentenceFor(door)}”`
  return ['Door open', ...limitsOf(door, (after) => countOf(after, 'application'))].join(', ')
}

function sentenceFor({ sentence }: Pick<Door, 'sentence'>) {
  return sentence === '' ? closedSentence : sentence
}

/** The values of the door form's fields. */
export interface Entries {
  closed: boolean
  sentence: string
  /** A time in the organiser's time zone, in the format of a `datetime-local` field: `2026-12-31T18:00`. */
  closesAt: string
  closesAfter: string
}

/**
 * The initial values of the form. A door that closed automatically counts as closed, so that changing the sentence does not
 * open it. A future closing time is kept for the next opening. A limit of applications is not kept, since it counts from the
 * opening.
 *
 * @param now When the door was read by the server's clock, in milliseconds since 1970.
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

/**
 * The arguments of `desk_set_door` that save these values. Closing the door drops a newly entered time and the limit of
 * applications.
 *
 * @param door The door as it was read.
 */
export function changeFrom({ closed, sentence, closesAt, closesAfter }: Entries, door: Door) {
  // An unchanged time keeps its seconds, which the field does not show.
  const isSame = door.closes_at !== null && localTimeOf(door.closes_at) === closesAt
  return {
    version: door.version,
    closed,
    sentence: sentence.trim(),
    closes_at: isSame ? door.closes_at : closed || closesAt === '' ? null : new Date(closesAt).toISOString(),
    closes_after: closed || closesAfter === '' ? null : Number(closesAfter),
  }
}

/**
 * The hint at the closing time: the time zone of the field, and the time in that of the retreat if it is another one.
 *
 * @param closesAt The content of the field; blank if it has no whole time.
 * @param zone The retreat's time zone, which pages and letters use.
 */
export function zoneHint(closesAt: string, zone: string | undefined): string {
  const own = browserTimeZone()
  const ofField = `In your own time zone, ${zoneWords(own)}.`
  if (closesAt === '' || zone === undefined || zone === own) return ofField
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: zone })
  return `${ofField} That is ${format.format(new Date(closesAt))} in the retreat’s, ${zoneWords(zone)}.`
}
