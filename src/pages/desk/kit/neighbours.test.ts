import { expect, test } from 'vitest'

import type { Listed, Place } from '../../../client/desk/applications.ts'
import { leftWith, neighboursIn, type Left } from './neighbours.ts'

const page = (ids: string[], isLast: boolean) => ({
  applications: ids.map((id) => ({ id }) as Listed),
  readAt: 1,
  next: isLast ? null : { created_at: '2026-11-22T10:00:00Z', id: ids.at(-1) ?? '' },
})
const place = (given: Partial<Place>): Place => ({
  number: null,
  count: 3,
  more: false,
  previous: null,
  next: null,
  ...given,
})

test('an application opened by a link has the position from the database', () => {
  const left = leftWith(
    undefined,
    undefined,
    'b',
    place({ number: 12, count: 148, previous: 'a', next: 'c' }),
  )
  expect(neighboursIn(left, 'b')).toEqual({ previous: 'a', next: 'c', words: '12 of 148' })
  expect(neighboursIn(left, 'a').words).toBe('11 of 148')
  const many = leftWith(undefined, undefined, 'b', place({ number: 12, count: 1000, more: true }))
  expect(neighboursIn(many, 'b').words).toBe('12 of more than 1,000')
  const behind = leftWith(undefined, undefined, 'b', place({ count: 1000, more: true, previous: 'a' }))
  expect(neighboursIn(behind, 'b')).toEqual({ previous: 'a', next: undefined, words: '' })
  expect(neighboursIn(leftWith(undefined, page([], true), 'a', place({})), 'b')).toEqual({
    previous: undefined,
    next: undefined,
    words: '',
  })
})

test('deciding through a list that a link opened keeps the position', () => {
  let left: Left | undefined
  const see = (id: string, given: Partial<Place>) => {
    left = leftWith(left, undefined, id, place(given))
    return neighboursIn(left, id)
  }
  expect(see('a', { number: 1, next: 'b' })).toEqual({ previous: undefined, next: 'b', words: '1 of 3' })
  // It was decided and is no longer in the list.
  expect(see('a', { count: 2, next: 'b' })).toEqual({ previous: undefined, next: 'b', words: '1 of 3' })
  expect(see('b', { number: 1, count: 2, next: 'c' })).toEqual({ previous: 'a', next: 'c', words: '2 of 3' })
  expect(see('c', { number: 1, count: 1 })).toEqual({ previous: 'b', next: undefined, words: '3 of 3' })
})

test('a list read to its end has exactly its rows, and no other neighbours', () => {
  const whole = leftWith(
    undefined,
    page(['a', 'b', 'c'], true),
    'b',
    place({ count: 1000, more: true, previous: 'x', next: 'y' }),
  )
  expect(neighboursIn(whole, 'b')).toEqual({ previous: 'a', next: 'c', words: '2 of 3' })
  const begun = leftWith(undefined, page(['a', 'b'], false), 'a', place({ count: 1000, more: true }))
  expect(neighboursIn(begun, 'a').words).toBe('1 of more than 1,000')
  expect(neighboursIn(whole, 'a').previous).toBeUndefined()
  expect(neighboursIn(whole, 'c').next).toBeUndefined()
})

test('a position is never greater than the total', () => {
  const left = leftWith(undefined, undefined, 'a', place({ number: 5, count: 3 }))
  expect(neighboursIn(left, 'a').words).toBe('5 of 5')
})

test('a list is followed in its former order, and continues after its end', () => {
  const [whole, begun] = [page(['a', 'b'], true), page(['a', 'b'], false)]
  const decided = place({ count: 1, previous: null, next: null })
  expect(neighboursIn(leftWith(undefined, whole, 'b', decided), 'b')).toEqual({
    previous: 'a',
    next: undefined,
    words: '2 of 2',
  })
  const left = leftWith(undefined, begun, 'b', place({ number: 2, count: 148, previous: 'a', next: 'c' }))
  expect(neighboursIn(left, 'b')).toEqual({ previous: 'a', next: 'c', words: '2 of 148' })
  const beyond = leftWith(left, begun, 'c', place({ number: 2, count: 147, previous: 'a', next: 'd' }))
  expect(neighboursIn(beyond, 'c')).toEqual({ previous: 'b', next: 'd', words: '3 of 148' })
  // A newer read replaces the former list.
  expect(neighboursIn(leftWith(beyond, page(['c', 'd'], true), 'c', decided), 'c')).toEqual({
    previous: undefined,
    next: 'd',
    words: '1 of 2',
  })
})

test('there is no position after an application was added before the first one', () => {
  const first = leftWith(undefined, page(['a'], true), 'a', place({ number: 2, previous: 'new' }))
  expect(neighboursIn(first, 'a')).toEqual({ previous: 'new', next: undefined, words: '' })
})
