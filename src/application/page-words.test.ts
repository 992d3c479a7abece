import { expect, test } from 'vitest'

import { factsOf } from './page-words.ts'

test('a page without words has no facts', () => {
  expect(factsOf({})).toEqual([])
})

test('facts are in the order in which a founder asks for them', () => {
  const words = {
    hear_back: 'by 1 March',
    cost: 'Free',
    starts_on: '2027-06-12',
    ends_on: '2027-06-15',
    venue: 'Hof Sonnenau',
    closes_on: '2027-05-01',
  }
  expect(factsOf(words)).toEqual([
    { name: 'When', value: '12–15 June 2027' },
    { name: 'Where', value: 'Hof Sonnenau' },
    { name: 'Cost', value: 'Free' },
    { name: 'Apply by', value: '1 May 2027' },
    { name: 'You hear back', value: 'by 1 March' },
  ])
})

test('a closing that is not at midnight has its time and zone', () => {
  const [closing] = factsOf({ closes_on: '2027-05-01', closes_at: '18:00', zone: 'America/New_York' })
  expect(closing?.value).toBe('1 May 2027, 18:00 (America/New York)')
  const [inUtc] = factsOf({ closes_on: '2027-05-01', closes_at: '18:00' })
  expect(inUtc?.value).toBe('1 May 2027, 18:00 (UTC)')
})

test('days are told once both the first and the last are set', () => {
  expect(factsOf({ starts_on: '2027-06-12', venue: 'Hof Sonnenau' })).toEqual([
    { name: 'Where', value: 'Hof Sonnenau' },
  ])
})
