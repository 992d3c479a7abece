import { closedSentence } from '../application/limits.ts'
import type { Door } from './queries/door.ts'
import { OperatorError } from '../settings/operator-error.ts'
import { countOf } from '../application/count.ts'
import { localTime, onOneLine } from './formats.ts'

/** The largest number that the column for a number of applications can store. */
const maxNumber = 2_147_483_647

/**
 * Reads a future time: in this machine's time zone, unless the text ends with another zone.
 *
 * @throws {OperatorError} if the text is not a time, or the time is past.
 */
export function parseTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const [, day, rest] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)$/.exec(text) ?? []
  const time = new Date(`${day}T${rest}`)
  // JavaScript reads 30 February as 2 March.
  const exists = !Number.isNaN(time.getTime()) && new Date(`${day}T00:00Z`).toJSON().startsWith(`${day}`)
  if (!exists) {
    throw new OperatorError(`--until is "${text}" but should be a date and a time, such as 2027-03-01T18:00.`)
  }
  if (time.getTime() <= Date.now()) throw new OperatorError(`--until is ${localTime(time)}, which is past.`)
  return time
}

/**
 * Reads a number of applications.
 *
 * @throws {OperatorError} if the text is not a number that the door can count to.
 */
export function parseNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= maxNumber) return number
  throw new OperatorError(`--after is "${text}" but should be a whole number from 1 to ${maxNumber}.`)
}

/** Formats the state of the door as lines for a terminal. */
export function doorLines(door: Door): string[] {
  const { is_open: isOpen, closes_at: at, closes_after: after, changed_at: changedAt, author } = door
  const sentence = onOneLine(door.sentence) || closedSentence
  const lines = [`${stateOf(door)}.`]
  if (!isOpen) lines.push(`Applicants read: ${sentence}`)
  else if (at || after) lines.push(`Then applicants read: ${sentence}`)
  if (changedAt) lines.push(`Last changed on ${localTime(changedAt)} by ${onOneLine(author ?? '')}.`)
  return lines
}

function stateOf({ is_open: isOpen, closed, closes_at: at, closes_after: after, received, opened_at }: Door) {
  if (isOpen) {
    const parts = [
      opened_at ? `The door is open since ${localTime(opened_at)}` : 'The door is open',
      at ? `until ${localTime(at)}` : '',
      after ? `for ${after - received} more of ${countOf(after, 'application')}` : '',
    ]
    return parts.filter(Boolean).join(', ')
  }
  if (!closed && at && at.getTime() <= Date.now()) return `The door has been closed since ${localTime(at)}`
  if (!closed && after) return `The door is closed: it reached its limit of ${countOf(after, 'application')}`
  return 'The door is closed'
}
