import { expect, test } from 'vitest'

import type { ListedApplication, ListPosition } from '../../../client/desk/applications.ts'
import { idsOf, withOpened, type OpenedList } from './opened-list.ts'
import { neighboursIn } from './neighbours.ts'

const page = (ids: string[], isLast: boolean) => ({
  applications: ids.map((id) => ({ id }) as ListedApplication),
  readAt: 1,
  next: isLast ? null : { created_at: '2026-11-22T10:00:00Z', id: ids.at(-1) ?? '' },
})
const position = (given: Partial<ListPosition>): ListPosition => ({
  number: null,
  count: 3,
  more: false,
  previous: null,
  next: null,
  ...given,
})

test('an application opened by a link has the position from the database', () => {
  const openedList = withOpened(
    undefined,
    undefined,
    'b',
    position({ number: 12, count: 148, previous: 'a', next: 'c' }),
  )
  expect(neighboursIn(openedList, 'b')).toEqual({ previous: 'a', next: 'c', position: '12 of 148' })
  expect(neighboursIn(openedList, 'a').position).toBe('11 of 148')
  const many = withOpened(undefined, undefined, 'b', position({ number: 12, count: 1000, more: true }))
  expect(neighboursIn(many, 'b').position).toBe('12 of more than 1,000')
  const uncounted = withOpened(
    undefined,
    undefined,
    'b',
    position({ count: 1000, more: true, previous: 'a' }),
  )
  expect(neighboursIn(uncounted, 'b')).toEqual({ previous: 'a', next: undefined, position: '' })
  expect(neighboursIn(withOpened(undefined, page([], true), 'a', position({})), 'b')).toEqual({
    previous: undefined,
    next: undefined,
    position: '',
  })
})

test('applications that left the list since it was read count as read, not as missing', () => {
  const list = page(['a', 'b', 'c'], false)
  const given = position({ number: 1, count: 7, next: 'c' })
  const opened = withOpened(undefined, list, 'b', given, 1)
  expect(neighboursIn(opened, 'b', 1).position).toBe('2 of 8, 7 to read')
  expect(neighboursIn({ ...opened, isMarking: true }, 'b', 1).position).toBe('2 of 8, 7 to decide')
})

test('the position stays correct while an organiser decides one application after another, starting from a link', () => {
  let openedList: OpenedList | undefined
  const see = (id: string, given: Partial<ListPosition>) => {
    openedList = withOpened(openedList, undefined, id, position(given))
    return neighboursIn(openedList, id)
  }
  expect(see('a', { number: 1, next: 'b' })).toEqual({ previous: undefined, next: 'b', position: '1 of 3' })
  // The application was decided and is no longer in the list.
  expect(see('a', { count: 2, next: 'b' })).toEqual({ previous: undefined, next: 'b', position: '1 of 3' })
  expect(see('b', { number: 1, count: 2, next: 'c' })).toEqual({
    previous: 'a',
    next: 'c',
    position: '2 of 3',
  })
  expect(see('c', { number: 1, count: 1 })).toEqual({ previous: 'b', next: undefined, position: '3 of 3' })
})

test('if a list was read to its end, the neighbours and the count come from its rows alone', () => {
  const whole = withOpened(
    undefined,
    page(['a', 'b', 'c'], true),
    'b',
    position({ count: 1000, more: true, previous: 'x', next: 'y' }),
  )
  expect(neighboursIn(whole, 'b')).toEqual({ previous: 'a', next: 'c', position: '2 of 3' })
  const partial = withOpened(undefined, page(['a', 'b'], false), 'a', position({ count: 1000, more: true }))
  expect(neighboursIn(partial, 'a').position).toBe('1 of more than 1,000')
  expect(neighboursIn(whole, 'a').previous).toBeUndefined()
  expect(neighboursIn(whole, 'c').next).toBeUndefined()
})

test('a position is never greater than the total', () => {
  const openedList = withOpened(undefined, undefined, 'a', position({ number: 5, count: 3 }))
  expect(neighboursIn(openedList, 'a').position).toBe('5 of 5')
})

test('neighbours follow the former order of the list, and continue after the last row that was read', () => {
  const [whole, partial] = [page(['a', 'b'], true), page(['a', 'b'], false)]
  const decided = position({ count: 1, previous: null, next: null })
  expect(neighboursIn(withOpened(undefined, whole, 'b', decided), 'b')).toEqual({
    previous: 'a',
    next: undefined,
    position: '2 of 2',
  })
  const openedList = withOpened(
    undefined,
    partial,
    'b',
    position({ number: 2, count: 148, previous: 'a', next: 'c' }),
  )
  expect(neighboursIn(openedList, 'b')).toEqual({ previous: 'a', next: 'c', position: '2 of 148' })
  const openedPastLastRead = withOpened(
    openedList,
    partial,
    'c',
    position({ number: 2, count: 147, previous: 'a', next: 'd' }),
  )
  expect(neighboursIn(openedPastLastRead, 'c')).toEqual({ previous: 'b', next: 'd', position: '3 of 148' })
  // A newer read replaces the former list.
  expect(neighboursIn(withOpened(openedPastLastRead, page(['c', 'd'], true), 'c', decided), 'c')).toEqual({
    previous: undefined,
    next: 'd',
    position: '1 of 2',
  })
})

test('the position is unknown if another application now precedes the one at position 1', () => {
  const first = withOpened(undefined, page(['a'], true), 'a', position({ number: 2, previous: 'new' }))
  expect(neighboursIn(first, 'a')).toEqual({ previous: 'new', next: undefined, position: '' })
})

test('among new applications, the position has the number that nobody has decided, if all were counted', () => {
  const opened = (more: boolean) =>
    withOpened(undefined, undefined, 'b', position({ number: 2, count: 148, more }))
  expect(neighboursIn(opened(false), 'b', 3).position).toBe('2 of 148, 145 to read')
  expect(neighboursIn(opened(true), 'b', 3).position).toBe('2 of more than 148')
})

test('decided applications count until the list is read again', () => {
  const list = page(['a', 'b'], false)
  const first = withOpened(undefined, list, 'a', position({ count: 148 }))
  const afterDecision = position({ count: 147 })
  expect(neighboursIn(withOpened(first, list, 'b', afterDecision), 'b').position).toBe('2 of 148')
  const readAgain = { ...list, readAt: 2 }
  expect(neighboursIn(withOpened(first, readAgain, 'b', afterDecision), 'b').position).toBe('2 of 147')
})

test('without a list there is no application to go on to', () => {
  expect(idsOf(undefined)).toEqual([])
})

test('once all new applications are read, their number is known', () => {
  const opened = withOpened(undefined, page(['a', 'b'], true), 'b', position({ number: 2, count: 2 }))
  expect(neighboursIn(opened, 'b', 1).read).toBeUndefined()
  expect(neighboursIn(opened, 'b', 2).read).toBe(2)
  const more = withOpened(undefined, page(['a', 'b'], false), 'b', position({ count: 1000, more: true }))
  expect(neighboursIn(more, 'b', 2000).read).toBeUndefined()
  // Another list, which has lost its only application.
  const emptied = withOpened(undefined, undefined, 'b', position({ count: 0 }))
  expect(neighboursIn(emptied, 'b').read).toBeUndefined()
})
