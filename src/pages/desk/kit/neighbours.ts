import type { Place } from '../../../client/desk/applications.ts'
import type { List } from './list.ts'

type Read = Pick<List, 'applications' | 'next' | 'readAt'>

/**
 * The ids of a list as it was when the organiser opened an application from it. Decided applications stay in it, so that the
 * organiser keeps their position.
 */
export interface Left {
  /** In the order of the list. */
  ids: readonly string[]
  /** Position of the first id in the list, from 1; null if unknown. */
  first: number | null
  /** Number of applications in the list. */
  count: number
  more: boolean
  /** The `readAt` of the list that it was taken from. */
  readAt?: number | undefined
}

/**
 * Updates what is known of a list when one of its applications is opened.
 *
 * @param former The former knowledge of the list.
 * @param list The part of the list that was read.
 * @param id The application that was opened.
 * @param place Its position and its neighbours, from the database.
 */
export function leftWith(former: Left | undefined, list: Read | undefined, id: string, place: Place): Left {
  const read = idsOf(list)
  const isWhole = list?.next === null
  // The count from the database excludes decided applications, which stay in the ids here.
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
    // An application was added before the first one, so the position is no longer known.
    first: left.first === null || before.length >= left.first ? null : left.first - before.length,
  }
}

/** The ids of a list, as far as it was read. */
export function idsOf(list: Pick<Read, 'applications'> | undefined): string[] {
  return list?.applications.map(({ id }) => id) ?? []
}

/**
 * The ids before and after an application, and its position in words; blank if unknown.
 *
 * @param decided Number of applications in the list decided since it was opened; null if the list contains decided ones anyway.
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
