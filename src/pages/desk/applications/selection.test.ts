import { expect, test } from 'vitest'

import { emptySelection, rangeTo, select, selectAllMatching, selectedOf } from './selection.ts'

const rows = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, version: 0 }))
const decided = (...ids: string[]) => rows.map((row) => (ids.includes(row.id) ? { ...row, version: 1 } : row))

test('a ticked row is selected until it is unticked, changes or disappears', () => {
  const three = select(emptySelection, rows, ['a', 'b', 'c'], true)
  expect([...selectedOf(three, rows)]).toEqual(['a', 'b', 'c'])
  expect([...selectedOf(select(three, rows, ['b'], false), rows)]).toEqual(['a', 'c'])
  expect([...selectedOf(three, decided('a'))]).toEqual(['b', 'c'])
  expect([...selectedOf(three, rows.slice(1))]).toEqual(['b', 'c'])
})

test('a changed row is dropped with the next tick and can be ticked again', () => {
  const first = select(emptySelection, rows, ['a', 'b'], true)
  const changedRows = decided('a')
  const next = select(first, changedRows, ['c'], true)
  expect([...next.ticked]).toEqual([
    ['b', 0],
    ['c', 0],
  ])
  expect([...select(next, changedRows, ['a'], true).ticked]).toContainEqual(['a', 1])
})

test('selecting rows that are not shown replaces the selection and keeps their versions', () => {
  const hidden = { id: 'z', status: 'new' as const, version: 3 }
  const all = selectAllMatching([hidden])
  expect(all.allMatching).toEqual([hidden])
  expect([...selectedOf(all, [...rows, hidden])]).toEqual(['z'])
  expect([...selectedOf(select(all, [...rows, hidden], ['a'], true), [...rows, hidden])]).toEqual(['a', 'z'])
})

test('a range goes from the row ticked last to the given row, in either direction', () => {
  const ticked = (id: string) => select(emptySelection, rows, [id], true)
  expect(rangeTo(ticked('b'), rows, 'd')).toEqual(['b', 'c', 'd'])
  expect(rangeTo(ticked('d'), rows, 'b')).toEqual(['d', 'c', 'b'])
  expect(rangeTo(ticked('b'), rows, 'b')).toEqual(['b'])
})

test('a new range begins at the end of the last range, or is one row if that end is not shown', () => {
  const first = select(emptySelection, rows, ['b'], true)
  const range = select(first, rows, rangeTo(first, rows, 'd'), true)
  expect(rangeTo(range, rows, 'e')).toEqual(['d', 'e'])
  expect(rangeTo(emptySelection, rows, 'c')).toEqual(['c'])
  expect(rangeTo(first, rows.slice(2), 'd')).toEqual(['d'])
})
