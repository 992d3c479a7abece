import pino from 'pino'
import { DatabaseError } from 'pg'
import { expect, test, vi } from 'vitest'

import { createLog, logOptions, logRepeats, toText } from './log.ts'

test('the log has the code of a database error, and nothing that an applicant wrote', () => {
  const lines: string[] = []
  const log = pino(logOptions, { write: (line: string) => void lines.push(line) })
  const error = Object.assign(new DatabaseError('MARK1', 0, 'error'), {
    code: '53100',
    severity: 'ERROR',
    message: 'could not store "MARK1"',
    detail: 'Failing row contains (MARK2).',
    query: 'insert MARK3',
    parameters: ['MARK4'],
  })
  log.error({ err: error }, 'an application was not stored')
  expect(lines.join('')).not.toContain('MARK')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    err: { code: '53100', message: 'The disk of the database is full.' },
  })
})

/** Creates a log whose lines the test reads. */
function aLog(level: 'info' | 'warn' = 'info') {
  const lines: string[] = []
  const log = createLog(level, { write: (line) => void lines.push(line) })
  const read = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log, lines, read }
}

const fullDisk = () => Object.assign(new DatabaseError('no space', 0, 'error'), { code: '53100' })

test('an error that repeats is logged once, and after a minute with the number of its repeats', () => {
  vi.useFakeTimers()
  const { log, read } = aLog()
  const request = log.child({})
  for (let count = 0; count < 1_988; count += 1) request.error({ err: fullDisk() }, 'nothing was stored')
  expect(read()).toMatchObject([{ level: 'error', msg: 'nothing was stored', err: { code: '53100' } }])
  vi.advanceTimersByTime(60_000)
  expect(read().slice(1)).toMatchObject([
    { level: 'error', msg: 'nothing was stored', repeated: 1_987, err: { code: '53100' } },
  ])
  log.error({ err: fullDisk() }, 'nothing was stored')
  vi.advanceTimersByTime(60_000)
  expect(read()).toHaveLength(3)
})

test('a pending number of repeats is logged before the log ends', () => {
  const { log, read } = aLog()
  for (let count = 0; count < 3; count += 1) log.warn({ err: new Error('away') }, 'not read')
  logRepeats()
  logRepeats()
  expect(read().map(({ repeated }) => repeated)).toEqual([undefined, 2])
})

test('other errors, other messages and lines with ids are logged each time', () => {
  const { log, lines } = aLog()
  log.error({ err: fullDisk() }, 'nothing was stored')
  log.warn({ err: fullDisk() }, 'nothing was stored')
  log.error({ err: fullDisk() }, 'nothing was read')
  log.error({ err: new Error('away') }, 'nothing was read')
  for (const letterId of ['1', '2']) log.error({ letterId, err: fullDisk() }, 'nothing was sent')
  for (let count = 0; count < 2; count += 1) log.info({ status: 201 }, 'request')
  log.info('hello')
  log.info('hello')
  expect(lines).toHaveLength(10)
  logRepeats()
  expect(lines).toHaveLength(10)
})

test('a log has only lines of its level and above', () => {
  const { log, read } = aLog('warn')
  log.info('request')
  log.warn('late')
  expect(read().map(({ msg }) => msg)).toEqual(['late'])
})

test('on a terminal a line is text, which cannot change the terminal', () => {
  const { log, lines } = aLog()
  log.info({ route: '/', status: 200 }, 'request')
  log.error({ err: fullDisk() }, 'nothing was stored')
  log.error({ err: Object.assign(new Error('\u001B[2J'), { stack: 'Error\n at here\u0007' }) }, 'failed')
  log.info('stopped')
  expect(lines.map((line) => toText(line).replaceAll(/^\d\d:\d\d:\d\d /gm, ''))).toEqual([
    'info  request {"route":"/","status":200}\n',
    'error nothing was stored: The disk of the database is full. (53100)\n',
    'error failed:  [2J\n at here \n',
    'info  stopped\n',
  ])
})
