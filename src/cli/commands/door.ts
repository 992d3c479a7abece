import { isDatabaseError } from '../../server/database/connection/connection.ts'

import { closedSentence } from '../../application/limits.ts'
import { readDoor, setDoor, setSentence } from '../queries/door.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { doorLines, parseNumber, parseTime } from '../door.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: ${commandLine('door', '[options]')}

  (none)              says whether applications are open
  --close             closes them now
  --open              opens them again
  --until <time>      opens them until then, such as 2027-03-01T18:00: in this machine's time zone, unless it ends
                      with another, such as Z or +01:00
  --after <number>    opens them for this many, counted from the opening
  --sentence <text>   what applicants read while it is closed; blank for "${closedSentence}"

  --until and --after can be combined; each opening replaces the former limits. --sentence goes with all of them, and
  alone.`

/** Runs `npm run door`, by its options in `usage`. */
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
  if (close && opening !== '') throw new OperatorError(`Use either --close or ${opening}.`)
  const change = { closed: close, sentence, closesAt: parseTime(until), closesAfter: parseNumber(after) }
  await withDatabase(async ({ owner }) => {
    try {
      if (close || opening !== '') await setDoor(owner, change)
      else if (sentence !== undefined) await setSentence(owner, sentence)
    } catch (cause) {
      const isRefused = isDatabaseError(cause) && ['22023', 'PT503'].includes(cause.code)
      throw isRefused ? new OperatorError(cause.message, { cause }) : cause
    }
    for (const line of doorLines(await readDoor(owner))) console.log(line)
  })
}
