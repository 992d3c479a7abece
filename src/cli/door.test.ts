import { expect, test } from 'vitest'

import type { Door } from './queries/door.ts'
import { doorLines, parseNumber, parseTime } from './door.ts'
import { localTime } from './formats.ts'

const future = new Date('2999-03-01T12:15Z')
const past = new Date('2020-03-01T12:15Z')
const open: Door = {
  is_open: true,
  closed: false,
  sentence: '',
  closes_at: null,
  closes_after: null,
  received: 0,
  opened_at: null,
  author: null,
  changed_at: null,
}
const full: Door = { ...open, is_open: false, closes_after: 3, received: 3, sentence: 'We are\nfull.' }

test.each<[Partial<Door>, ...string[]]>([
  [{}, 'The door is open.'],
  [
    { opened_at: past, closes_at: future, closes_after: 3, received: 2 },
    `The door is open since ${localTime(past)}, until ${localTime(future)}, for 1 more of 3 applications.`,
    'Then applicants read: Applications are closed.',
  ],
  [
    { closes_after: 1, sentence: 'Full.', author: 'operator', changed_at: past },
    'The door is open, for 1 more of 1 application.',
    'Then applicants read: Full.',
    `Last changed on ${localTime(past)} by operator.`,
  ],
  [full, 'The door is closed: it reached its limit of 3 applications.', 'Applicants read: We are full.'],
  [{ ...full, closed: true }, 'The door is closed.', 'Applicants read: We are full.'],
  [
    { is_open: false, closes_at: past },
    `The door has been closed since ${localTime(past)}.`,
    'Applicants read: Applications are closed.',
  ],
])(
  'the lines about the door say its state, what applicants read, and the last change: %j',
  (changes, ...lines) => {
    expect(doorLines({ ...open, ...changes })).toEqual(lines)
  },
)

test('a time is in the time zone of the machine, unless it names another one', () => {
  expect(parseTime('2999-03-01T18:00')).toEqual(new Date(2999, 2, 1, 18))
  expect(parseTime('2999-03-01 18:00:30+05:45')).toEqual(new Date('2999-03-01T12:15:30Z'))
  expect(parseTime(undefined)).toBeUndefined()
})

test.each(['2999-02-30T18:00', '2999-03-01', '2999-03-01T25:00', 'soon'])(
  '%s is refused as a time',
  (text) => {
    expect(() => parseTime(text)).toThrow(
      `--until is "${text}" but should be a date and a time, such as 2027-03-01T18:00.`,
    )
  },
)

test('a past time is refused', () => {
  expect(() => parseTime('2020-03-01T12:15Z')).toThrow(`--until is ${localTime(past)}, which is past.`)
})

test.each(['0', '1.5', '-1', '2147483648', 'x'])('%s is refused as a number of applications', (text) => {
  expect(() => parseNumber(text)).toThrow(
    `--after is "${text}" but should be a whole number from 1 to 2147483647.`,
  )
})

test('the smallest and the largest number of applications are accepted, and so is no number', () => {
  expect([parseNumber('1'), parseNumber('2147483647'), parseNumber(undefined)]).toEqual([
    1,
    2_147_483_647,
    undefined,
  ])
})
