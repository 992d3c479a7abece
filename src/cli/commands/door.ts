import { isDatabaseError } from '../../server/database/connection.ts'

import { closedSentence } from '../../application/limits.ts'
import { readDoor, setDoor, setSentence, type Door } from '../../server/database/door.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { countOf, localTime, onOneLine } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run door -- [options]

  (none)              says whether applications are taken
  --close             takes none from now on
  --open              takes them again
  --until <time>      takes them until then, such as 2027-03-01T18:00: in this machine's time zone, unless it ends
                      with another, such as Z or +01:00
  --after <number>    takes so many, counted from the opening
  --sentence <text>   what applicants read while it is closed; blank for "${closedSentence}"

  --until and --after may go together; each opening forgets those of the one before. --sentence goes with all of
  them, and alone.`

const greatestNumber = 2_147_483_647

export async function run(): Promise<void> {
  const options = readOptions(
    {
      close: { type: 'boolean', default: false },
      open: { type: 'boolean', default: false },
      until: { type: 'string' },
      after: { type: 'string' },
      sentence: { type: 'string' },
    },
    usage,
  )
  if (options === undefined) return
  const { close, open, until, after, sentence } = options
  const opening = open ? '--open' : until !== undefined ? '--until' : after !== undefined ? '--after' : ''
  if (close && opening !== '') throw new OperatorError(`--close and ${opening} are two things: choose one.`)
  const change = { closed: close, sentence, closesAt: timeOf(until), closesAfter: numberOf(after) }
  await withDatabase(async ({ owner }) => {
    try {
      if (close || opening !== '') await setDoor(owner, change)
      else if (sentence !== undefined) await setSentence(owner, sentence)
    } catch (cause) {
      const isRefused = isDatabaseError(cause) && ['22023', 'PT503'].includes(cause.code)
      throw isRefused ? new OperatorError(cause.message, { cause }) : cause
    }
    tell(await readDoor(owner))
  })
}

function timeOf(text: string | undefined) {
  if (text === undefined) return undefined
  const [, day, rest] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)$/.exec(text) ?? []
  const time = new Date(`${day}T${rest}`)
  // JavaScript takes the 30th of February for the 2nd of March.
  const isThere = !Number.isNaN(time.getTime()) && new Date(`${day}T00:00Z`).toJSON().startsWith(`${day}`)
  if (!isThere) {
    throw new OperatorError(`--until is "${text}" but should be a date and a time, such as 2027-03-01T18:00.`)
  }
  if (time.getTime() <= Date.now()) throw new OperatorError(`--until is ${localTime(time)}, which is past.`)
  return time
}

function numberOf(text: string | undefined) {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= greatestNumber) return number
  throw new OperatorError(`--after is "${text}" but should be a whole number from 1 to ${greatestNumber}.`)
}

function tell(door: Door) {
  console.log(`${stateOf(door)}.`)
  const sentence = onOneLine(door.sentence) || closedSentence
  if (!door.is_open) console.log(`Applicants read: ${sentence}`)
  else if (door.closes_at || door.closes_after) console.log(`Then applicants read: ${sentence}`)
  if (door.changed_at) {
    console.log(`Last changed on ${localTime(door.changed_at)} by ${onOneLine(door.author ?? '')}.`)
  }
}

function stateOf({ is_open: isOpen, closed, closes_at: at, closes_after: after, received, opened_at }: Door) {
  if (isOpen) {
    const parts = [
      opened_at ? `The door is open since ${localTime(opened_at)}` : 'The door is open',
      at ? `until ${localTime(at)}` : '',
      after ? `for ${after - received} more of ${countOf(after)}` : '',
    ]
    return parts.filter(Boolean).join(', ')
  }
  if (!closed && at && at.getTime() <= Date.now()) return `The door is closed since ${localTime(at)}`
  if (!closed && after) return `The door is closed: ${countOf(after)} came, as many as it was to take`
  return 'The door is closed'
}
