import { closeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pino, { type LoggerOptions } from 'pino'
import { isDatabaseError } from './database/connection.ts'

/**
 * Formats an error for the log. PostgreSQL's messages can quote what an applicant wrote, so only the code of its errors is
 * logged.
 */
function serializeError(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' }
  const code = 'code' in error ? error.code : undefined
  return isDatabaseError(error)
    ? { type: 'DatabaseError', code, message: error.severity, stack: '' }
    : { type: error.name, code, message: error.message, stack: error.stack ?? '' }
}

/** The maximum number of bytes that wait to be written. Beyond that, new lines are dropped. */
const maxUnwrittenBytes = 2 ** 20
/** Timeout for flushing the log, in milliseconds. The program that reads the log may be frozen. */
const flushLimit = 2_000

/**
 * The log's destination: standard output, written in batches, at most a tenth of a second late. A write for each line would
 * reduce the rate of inserts by a tenth. Failed writes are retried.
 */
export const logDestination = pino.destination({
  sync: false,
  minLength: 4096,
  maxLength: maxUnwrittenBytes,
  periodicFlush: 100,
})

let isFailing = false
let isTerminalGone = false
let droppedLines = 0

// Without a listener an error would end the process.
logDestination.on('error', (error: NodeJS.ErrnoException) => {
  isTerminalGone = error.code === 'EIO'
  if (isFailing) return
  isFailing = true
  console.error(
    `The log cannot be written (${error.message}): applications are still stored, and lines are dropped when too many wait.`,
  )
})
logDestination.on('drop', () => (droppedLines += 1))
logDestination.on('drain', () => {
  if (isFailing || droppedLines > 0) {
    console.error(`The log can be written again. Lines that were dropped: ${droppedLines}.`)
  }
  isFailing = false
  droppedLines = 0
})

/** Stops pino's own exit listeners, which run later, from retrying forever. */
function giveUp() {
  if (!isFailing) return
  logDestination.destroy()
  if (!isTerminalGone) return
  // At exit, Node.js aborts if it cannot reset a terminal. It skips closed terminals.
  for (const terminal of [0, 1, 2]) closeSync(terminal)
}
process.prependListener('beforeExit', () => isFailing && logDestination.destroy())
process.prependListener('exit', giveUp)

/**
 * Writes the waiting lines, up to a timeout. Gives up if writes fail.
 *
 * @returns False after a timeout.
 */
export async function flushLog(): Promise<boolean> {
  const timeout = wait(flushLimit, false, { ref: false })
  // If a write is pending, the first flush only waits for it. The second flush writes the remaining lines.
  for (let round = 0; round < 2 && !isFailing; round += 1) {
    const written = new Promise<true>((resolve) => logDestination.flush(() => resolve(true)))
    if (!(await Promise.race([timeout, written]))) return false
  }
  return true
}

/** Writes the last lines and drops those that cannot be written, so that the process can end. */
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
