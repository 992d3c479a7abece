import { expect, test } from 'vitest'

import { maxPerCall, pageSize } from '../../../application/limits.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { ListedApplication, ListPage, Cursor } from '../../../client/desk/applications.ts'
import { refreshArgumentsOf, readList, readMore, type List } from './list.ts'

const { signal } = new AbortController()
const at = (index: number): Cursor => ({ created_at: `at ${index}`, id: String(index) })

/** A desk with `count` applications. A call examines at most `maxExamined` of them. */
function deskOf(count: number, maxExamined = Infinity) {
  const sizes: unknown[] = []
  const call: CallDesk = async (_name, args) => {
    const { after, most } = args as { after: Cursor | null; most: number }
    sizes.push(most)
    const from = after === null ? 0 : Number(after.id) + 1
    const to = Math.min(from + Math.min(most, maxExamined), count)
    const page: ListPage = {
      applications: Array.from(
        { length: to - from },
        (_, index) => ({ ...at(from + index), version: 0 }) as ListedApplication,
      ),
      letters: [],
      marks: {},
      new_notes: [],
      next: to < count ? at(to - 1) : null,
    }
    return page
  }
  return { sizes, call }
}

const idsOf = ({ applications }: List) => applications.map(({ id }) => Number(id))
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

test('a list begins with one page and continues with the next', async () => {
  const { call } = deskOf(120)
  const first = await readList(call, {}, undefined, signal)
  expect(idsOf(first)).toEqual(upTo(pageSize))
  const second = await readMore(call, first)
  expect(idsOf(second)).toEqual(upTo(2 * pageSize))
  expect(second.readAt).toBe(first.readAt)
  const whole = await readMore(call, second)
  expect(idsOf(whole)).toEqual(upTo(120))
  expect(whole.next).toBeNull()
  expect(await readMore(call, whole)).toBe(whole)
})

test('reading a list again reads as many rows as before, in as few calls as possible', async () => {
  const { sizes, call } = deskOf(2 * maxPerCall)
  let list = await readList(call, {}, undefined, signal)
  for (let page = 1; page < 20; page += 1) list = await readMore(call, list)
  sizes.length = 0
  expect(idsOf(await readList(call, {}, list, signal))).toEqual(upTo(maxPerCall))
  expect(sizes).toEqual([maxPerCall])
  list = await readMore(call, list)
  sizes.length = 0
  expect(idsOf(await readList(call, {}, list, signal))).toEqual(upTo(maxPerCall + pageSize))
  expect(sizes).toEqual([maxPerCall, pageSize])
})

test('a page with few matches takes a bounded number of calls, and a list is partial if they do not suffice', async () => {
  const some = deskOf(1000, 20)
  const list = await readList(some.call, {}, undefined, signal)
  expect(some.sizes).toEqual([50, 30, 10])
  expect(idsOf(list)).toEqual(upTo(pageSize))
  expect(list.isPartial).toBe(false)
  const few = deskOf(1000, 1)
  const short = await readList(few.call, {}, undefined, signal)
  expect(few.sizes).toHaveLength(10)
  expect(short).toMatchObject({ isPartial: true, next: at(9) })
})

test('for a long list, only the changes of the first thousand rows are requested', async () => {
  const { call } = deskOf(2 * maxPerCall)
  const list = await readList(call, {}, undefined, signal)
  expect(refreshArgumentsOf(list)).toEqual({
    shown: upTo(pageSize).map((id) => ({ id: String(id), version: 0 })),
    oldest: at(pageSize - 1),
  })
  const applications = upTo(maxPerCall + 1).map((id) => ({ ...at(id), version: 0 }) as ListedApplication)
  const long = refreshArgumentsOf({ ...list, applications, next: null })
  expect(long.shown).toHaveLength(maxPerCall)
  expect(long.oldest).toEqual(at(maxPerCall - 1))
  expect(refreshArgumentsOf({ ...list, next: null }).oldest).toBeNull()
})
