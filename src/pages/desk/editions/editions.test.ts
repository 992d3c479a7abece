import { expect, test } from 'vitest'

import { daysOfEdition, findEarlierEdition, nameOfEdition } from './editions.ts'

const edition = (id: number, changes = {}) => ({
  id,
  name: '',
  began_at: null,
  starts_on: null,
  ends_on: null,
  ...changes,
})

test.each([
  [edition(1), 'First retreat'],
  [edition(1, { name: 'Autumn 2027' }), 'Autumn 2027'],
  [edition(2), 'Retreat 2'],
])('a retreat is called by its name or, without one, by its number: %o', (shown, name) => {
  expect(nameOfEdition(shown)).toBe(name)
})

test('the days of a retreat are blank until they are known', () => {
  expect(daysOfEdition(edition(1))).toBe('')
  expect(daysOfEdition(edition(1, { starts_on: '2027-03-12', ends_on: '2027-03-15' }))).toMatch(
    /^12\s?–\s?15 March 2027$/,
  )
})

test('an earlier retreat is found by its number, and the newest retreat is not', () => {
  const editions = [edition(2), edition(1)]
  expect(findEarlierEdition(editions, 1)).toBe(editions[1])
  for (const other of [undefined, 2, 3]) expect(findEarlierEdition(editions, other)).toBeUndefined()
  expect(findEarlierEdition(undefined, 1)).toBeUndefined()
})
