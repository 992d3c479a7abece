import { closeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pino, { type LoggerOptions } from 'pino'
import { isDatabaseError } from './database/connection.ts'

/**
 * What the log holds of an error. PostgreSQL's own words can quote what an applicant wrote, so of its errors
 * only the code is logged.
 */
function serializeError(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' }
  const code = 'code' in error ? error.code : undefined
  return isDatabaseError(error)
    ? { type: 'DatabaseError', code, message: error.severity, stack: '' }
    : { type: error.name, code, message: error.message, stack: error.stack ?? '' }
}

/** Bytes of lines that wait while they cannot be written. Later ones are dropped until there is room. */
const mostUnwritten = 2 ** 20
/** Milliseconds that lines are given to be written before others, or before the end: whoever reads them may be frozen. */
const flushLimit = 2_000

/**
 * Where the log goes: standard output, a few lines at a time and a tenth of a second late at the most. A write
 * for each line would cost a tenth of the rate of inserts. What cannot be written is tried again.
 */
export const logDestination = pino.destination({
  sync: false,
  minLength: 4096,
  maxLength: mostUnwritten,
  periodicFlush: 100,
})

let isFailing = false
let isTerminalGone = false
let dropped = 0

// Without a listener an error would end the process.
logDestination.on('error', (error: NodeJS.ErrnoException) => {
  isTerminalGone = error.code === 'EIO'
  if (isFailing) return
  isFailing = true
  console.error(
    `The log cannot be written (${error.message}): applications are taken all the same, and lines are dropped when too many wait.`,
  )
})
logDestination.on('drop', () => (dropped += 1))
logDestination.on('drain', () => {
  if (isFailing || dropped > 0) {
    console.error(`The log is written again. Lines that were dropped: ${dropped}.`)
  }
  isFailing = false
  dropped = 0
})

/** Keeps pino's own listeners, which come later, from trying for ever to write what is left. */
function giveUp() {
  if (!isFailing) return
  logDestination.destroy()
  if (!isTerminalGone) return
  // Node.js aborts at its end where it cannot set back a terminal, and leaves closed ones alone.
  for (const terminal of [0, 1, 2]) closeSync(terminal)
}
process.prependListener('beforeExit', () => isFailing && logDestination.destroy())
process.prependListener('exit', giveUp)

/**
 * Writes the lines that wait, where that is possible and does not take too long.
 *
 * @returns Whether it was in time.
 */
export async function flushLog(): Promise<boolean> {
  const late = wait(flushLimit, false, { ref: false })
  // The first round may only wait for the write that is under way.
  for (let round = 0; round < 2 && !isFailing; round += 1) {
    const written = new Promise<true>((resolve) => logDestination.flush(() => resolve(true)))
    if (!(await Promise.race([late, written]))) return false
  }
  return true
}

/** Writes the last lines, and gives up those that cannot be written: then the process can end. */
export async function endLog(): Promise<void> {
  if (!(await flushLog())) isFailing = true
}

/** The options of the structured log, one JSON object a line. */
export const logOptions: LoggerOptions = {
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  serializers: { err: serializeError },
  formatters: { level: (label: string) => ({ level: label }) },
}
