import { expect, test } from 'vitest'

import { arrivalIn } from './arrival.ts'

// 2027-03-12 is a Friday.
const start = '2027-03-12'
const hours = (count: number) => count * 60

test.each([
  ['Friday 14:30', hours(14.5)],
  ['fri, 2 pm', hours(14)],
  ['2.30pm', hours(14.5)],
  ['12am', 0],
  ['12 pm', hours(12)],
  ['14h05', hours(14) + 5],
  ['Thursday evening', hours(-24 + 19)],
  ['On Sunday at noon', hours(48 + 12)],
  ['Wed', hours(-24) - 1],
  ['13 March, 9:00', hours(24 + 9)],
  ['13th of March at 9:00', hours(24 + 9)],
  ['March 13 9:00', hours(24 + 9)],
  ['2027-03-13 09:00', hours(24 + 9)],
  ['31 December', hours(-71 * 24 + 24) - 1],
  ['in the morning', hours(9)],
])('the arrival %j is %d minutes from the beginning of the first day', (text, minutes) => {
  expect(arrivalIn(text, start)).toBe(minutes)
})

test.each(['', 'By train', 'flight LH 1234', 'no idea yet'])('%j names no moment', (text) => {
  expect(arrivalIn(text, start)).toBeUndefined()
})

test('weekdays are in their order if the first day is not known', () => {
  expect(Number(arrivalIn('Monday'))).toBeLessThan(Number(arrivalIn('Tuesday')))
})
