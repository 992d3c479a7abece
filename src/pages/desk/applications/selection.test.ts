import { expect, test } from 'vitest'

import { emptySelection, rangeTo, select, selectBeyond, selectedOf } from './selection.ts'

const rows = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, version: 0 }))
const decided = (...ids: string[]) => rows.map((row) => (ids.includes(row.id) ? { ...row, version: 1 } : row))

test('a ticked row is selected until it is unticked, changes or disappears', () => {
  const two = select(emptySelection, rows, ['a', 'b', 'c'], true)
  expect([...selectedOf(two, rows)]).toEqual(['a', 'b', 'c'])
  expect([...selectedOf(select(two, rows, ['b'], false), rows)]).toEqual(['a', 'c'])
  expect([...selectedOf(two, decided('a'))]).toEqual(['b', 'c'])
  expect([...selectedOf(two, rows.slice(1))]).toEqual(['b', 'c'])
})

test('a changed row is dropped with the next tick and can be ticked again', () => {
  const before = select(emptySelection, rows, ['a', 'b'], true)
  const now = decided('a')
  const next = select(before, now, ['c'], true)
  expect([...next.ticked]).toEqual([
    ['b', 0],
    ['c', 0],
  ])
  expect([...select(next, now, ['a'], true).ticked]).toContainEqual(['a', 1])
})

test('selecting rows that are not shown replaces the selection and keeps their versions', () => {
  const far = { id: 'z', status: 'new' as const, version: 3 }
  const all = selectBeyond([far])
  expect(all.beyond).toEqual([far])
  expect([...selectedOf(all, [...rows, far])]).toEqual(['z'])
  expect([...selectedOf(select(all, [...rows, far], ['a'], true), [...rows, far])]).toEqual(['a', 'z'])
})

test('a range goes from the row ticked last to this one, in either direction', () => {
  const at = (id: string) => select(emptySelection, rows, [id], true)
  expect(rangeTo(at('b'), rows, 'd')).toEqual(['b', 'c', 'd'])
  expect(rangeTo(at('d'), rows, 'b')).toEqual(['d', 'c', 'b'])
  expect(rangeTo(at('b'), rows, 'b')).toEqual(['b'])
})

test('a range continues from its end, and is one row if its start is not among the rows', () => {
  const first = select(emptySelection, rows, ['b'], true)
  const range = select(first, rows, rangeTo(first, rows, 'd'), true)
  expect(rangeTo(range, rows, 'e')).toEqual(['d', 'e'])
  expect(rangeTo(emptySelection, rows, 'c')).toEqual(['c'])
  expect(rangeTo(first, rows.slice(2), 'd')).toEqual(['d'])
})
