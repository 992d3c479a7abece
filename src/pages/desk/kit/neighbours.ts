import type { Place } from '../../../client/desk/applications.ts'
import type { List } from './list.ts'

type Read = Pick<List, 'applications' | 'next' | 'readAt'>

/**
 * A part of a list as it was left. Whoever decides on one new application after the other keeps their place in the list,
 * though the decided ones are not new any more.
 */
export interface Left {
  /** The ids, in the order of the list. */
  ids: readonly string[]
  /** The place of the first one in the list, counted from 1; null where it is not known. */
  first: number | null
  /** How many there are in all. */
  count: number
  more: boolean
  /** When the list was read of which it is. */
  readAt?: number | undefined
}

/**
 * What is known of a list after one of its applications was opened.
 *
 * @param former What was known before.
 * @param list What was read of the list.
 */
export function leftWith(former: Left | undefined, list: Read | undefined, id: string, place: Place): Left {
  const read = idsOf(list)
  const isWhole = list?.next === null
  // Decided ones do not match any more, and still stand in the list that was left.
  const formerCount = former !== undefined && former.readAt === list?.readAt ? former.count : 0
  const left: Left = read.includes(id)
    ? {
        ids: read,
        first: 1,
        count: isWhole ? read.length : Math.max(formerCount, place.count, read.length),
        more: !isWhole && place.more,
        readAt: list?.readAt,
      }
    : former?.ids.includes(id)
      ? former
      : { ids: [id], first: place.number, count: place.count, more: place.more }
  const isNew = (other: string | null): other is string => other !== null && !left.ids.includes(other)
  const before = left.ids[0] === id && isNew(place.previous) ? [place.previous] : []
  const after = left.ids.at(-1) === id && isNew(place.next) ? [place.next] : []
  return {
    ...left,
    ids: [...before, ...left.ids, ...after],
    // Somebody is before the first one by now, so its place is not known any more.
    first: left.first === null || before.length >= left.first ? null : left.first - before.length,
  }
}

/** The applications of a list, as far as it was read. */
export function idsOf(list: Pick<Read, 'applications'> | undefined): string[] {
  return list?.applications.map(({ id }) => id) ?? []
}

/**
 * The applications before and after one, and its place in words; blank where that is not known.
 *
 * @param decided How many of the list were decided on since it was left; null where it has decided ones, too.
 */
export function neighboursIn({ ids, first, count, more }: Left, id: string, decided: number | null = null) {
  const index = ids.indexOf(id)
  if (index === -1) return { previous: undefined, next: undefined, words: '' }
  const number = first === null ? null : first + index
  const total = Math.max(count, number ?? 0)
  const toRead = decided === null || more ? '' : `, ${(total - decided).toLocaleString('en')} to read`
  const place = `${number?.toLocaleString('en')} of ${more ? 'more than ' : ''}${total.toLocaleString('en')}`
  return {
    previous: ids[index - 1],
    next: ids[index + 1],
    words: number === null ? '' : place + toRead,
  }
}
