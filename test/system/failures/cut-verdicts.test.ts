import { expect, test } from 'vitest'

import { judge, outcomeOf, type Call } from './verdicts.ts'

const cut = { began: 1_000, ended: 2_000 }

test('an outcome is right, unavailable for a 503, or the wrong response as text', () => {
  expect(outcomeOf(200, '{}', true)).toBe('right')
  expect(outcomeOf(503, '{}', false)).toBe('unavailable')
  expect(outcomeOf(200, 'null', false)).toEqual({ wrong: '200 null' })
})

test('calls that ended before the cut or began more than a second after it are outside the cut', () => {
  const calls: Call[] = [
    { kind: 'user', began: 900, ended: 999, outcome: 'dropped' },
    { kind: 'user', began: 900, ended: 1_000, outcome: 'unavailable' },
    { kind: 'user', began: 3_000, ended: 3_100, outcome: 'unavailable' },
    { kind: 'user', began: 3_001, ended: 3_100, outcome: 'unavailable' },
    { kind: 'user', began: 3_100, ended: 3_200, outcome: 'right' },
  ]
  expect(judge(calls, cut, ['user'])).toMatchObject({ outside: 3, unserved: 2, wrong: [] })
})

test('a wrong response is a problem inside a cut too', () => {
  const calls: Call[] = [{ kind: 'user', began: 1_500, ended: 1_600, outcome: { wrong: '403 {}' } }]
  expect(judge(calls, cut, ['user']).wrong).toEqual(['user: 403 {}'])
})

test('the server has recovered once it served a call of each kind that began after the cut', () => {
  const calls: Call[] = [
    { kind: 'insert', began: 1_990, ended: 2_010, outcome: 'right' },
    { kind: 'user', began: 2_000, ended: 2_020, outcome: 'right' },
    { kind: 'insert', began: 2_010, ended: 2_200, outcome: 'unavailable' },
  ]
  expect(judge(calls, cut, ['user', 'insert']).lastServed).toEqual({
    kind: 'insert',
    milliseconds: Infinity,
  })
  calls.push({ kind: 'insert', began: 2_200, ended: 2_300, outcome: 'right' })
  expect(judge(calls, cut, ['user', 'insert']).lastServed).toEqual({
    kind: 'insert',
    milliseconds: 300,
  })
})
