import { closeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pino, { type DestinationStream, type LogFn, type Logger, type LoggerOptions } from 'pino'

import type { LogLevel } from '../settings/server-settings.ts'
import { isDatabaseError } from './database/connection/connection.ts'
import { createRepeats, type Repeats } from './repeats.ts'

/** What PostgreSQL's codes mean, for those that an operator may meet. */
const meanings: Readonly<Record<string, string>> = {
  '08006': 'The connection to the database broke.',
  25006: 'The database takes no writes: it is read-only or a standby.',
  '28P01': 'The database refused the password.',
  40001: 'Another transaction changed the same rows.',
  '40P01': 'Two transactions waited for each other.',
  42501: 'The database user lacks a right.',
  53100: 'The disk of the database is full.',
  53200: 'The database is out of memory.',
  53300: 'The database has too many connections.',
  '55P03': 'A lock was not free in time.',
  57014: 'The database did not finish in time.',
  '57P01': 'The database is being shut down.',
  '57P02': 'The database crashed, and restarts.',
  '57P03': 'The database is starting or stopping.',
  58030: 'The disk of the database cannot be read or written.',
  XX001: 'The files of a table are damaged.',
  XX002: 'The files of an index are damaged.',
}

/**
 * Formats an error for the log. PostgreSQL's messages can quote what an applicant wrote, so its errors are logged by their code
 * and its meaning.
 */
function serializeError(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' }
  const code = 'code' in error ? error.code : undefined
  return isDatabaseError(error)
    ? { type: 'DatabaseError', code, message: meanings[error.code] ?? error.severity, stack: '' }
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
const logDestination = pino.destination({
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

/** The number of errors that are counted at a time. Others are logged each time. */
const maxCounted = 100

/** The counters of all logs. */
const counters = new Set<Repeats>()

/** Logs how often errors were repeated that are being counted. */
export function logRepeats(): void {
  for (const repeats of counters) repeats.end()
}

/**
 * Makes a hook that logs an error once, and then its repeats within a minute as one line with their number: a full disk fails
 * every request. Lines with details besides the error, such as a letter's id, are not counted.
 */
function countRepeats() {
  const repeats = createRepeats(maxCounted)
  counters.add(repeats)
  return function (this: Logger, args: Parameters<LogFn>, method: LogFn, level: number) {
    const [details, message] = args as unknown[]
    const key = repeatKey(details, message, level)
    const report = (repeated: number) =>
      method.call(this, { ...(details as object), repeated }, String(message))
    if (key === undefined || !repeats.isRepeated(key, report)) method.apply(this, args)
  }
}

/** The errors with the same key are the same problem; undefined if a line is not counted. */
function repeatKey(details: unknown, message: unknown, level: number) {
  if (typeof details !== 'object' || details === null || Object.keys(details).join() !== 'err')
    return undefined
  const { code = '', message: reason } = serializeError((details as { err: unknown }).err)
  return [level, message, code, reason].join('|')
}

interface Line {
  level: string
  time: string
  msg: string
  err?: { message: string; code?: string | number; stack: string }
}

/**
 * Formats a line of the log for a terminal: the local time, the level, the message, the error and the details. Control
 * characters, which could change the terminal, become blanks.
 *
 * @param line The line as JSON.
 */
export function toText(line: string): string {
  const { level, time, msg, err, ...details } = JSON.parse(line) as Line
  const [, ...stack] = err?.stack.split('\n') ?? []
  const code = err?.code === undefined ? '' : ` (${err.code})`
  const text = [
    new Date(time).toTimeString().slice(0, 8),
    level.padEnd(5),
    err === undefined ? msg : `${msg}: ${err.message}${code}`,
    ...(Object.keys(details).length === 0 ? [] : [JSON.stringify(details)]),
  ].join(' ')
  return [text, ...stack].map((each) => `${each.replaceAll(/\p{Cc}/gu, ' ')}\n`).join('')
}

const terminal: DestinationStream = { write: (line) => void logDestination.write(toText(line)) }

/**
 * Creates the log of a server: text on a terminal, and JSON elsewhere.
 *
 * @param level The lowest level that is logged.
 */
export function createLog(
  level: LogLevel,
  destination: DestinationStream = process.stdout.isTTY ? terminal : logDestination,
): Logger {
  return pino({ ...logOptions, level, hooks: { logMethod: countRepeats() } }, destination)
}

/** Writes the last lines and drops those that cannot be written, so that the process can end. */
export async function endLog(): Promise<void> {
  logRepeats()
  if (!(await flushLog())) isFailing = true
}

/** The options of the structured log, one JSON object a line. */
export const logOptions: LoggerOptions = {
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  serializers: { err: serializeError },
  formatters: { level: (label: string) => ({ level: label }) },
}
