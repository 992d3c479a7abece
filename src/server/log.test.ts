import pino from 'pino'
import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'

import { logOptions } from './log.ts'

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
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { code: '53100', message: 'ERROR' } })
})
