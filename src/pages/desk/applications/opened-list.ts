import type { ListPosition } from '../../../client/desk/applications.ts'
import type { List } from '../data/list.ts'

type ReadRows = Pick<List, 'applications' | 'next' | 'readAt'>

/**
 * The ids of a list as it was when the organiser opened an application from it. Decided applications stay in it, so that the
 * organiser keeps their position.
 */
export interface OpenedList {
  /** In the order of the list. */
  ids: readonly string[]
  /** Position of the first id in the list, from 1; null if unknown. */
  first: number | null
  /** Number of applications in the list. `more`: whether there are more than were counted. */
  count: number
  more: boolean
  /** Whether organisers mark the applications of this retreat. */
  isMarking?: boolean
  /** The `readAt` of the list that it was taken from. */
  readAt?: number | undefined
}

/**
 * Updates an opened list when one of its applications is opened.
 *
 * @param former The opened list before the update.
 * @param list The part of the list that was read.
 * @param id The application that was opened.
 * @param position Its position and its neighbours, from the database.
 * @param leftCount How many of the rows that were read are known to have left the list. The database does not count them.
 */
export function withOpened(
  former: OpenedList | undefined,
  list: ReadRows | undefined,
  id: string,
  position: ListPosition,
  leftCount = 0,
): OpenedList {
  const read = idsOf(list)
  const isWhole = list?.next === null
  // The count from the database excludes decided applications, which stay in the ids here.
  const formerCount = former !== undefined && former.readAt === list?.readAt ? former.count : 0
  const openedList: OpenedList = read.includes(id)
    ? {
        ids: read,
        first: 1,
        count: isWhole ? read.length : Math.max(formerCount, position.count + leftCount, read.length),
        more: !isWhole && position.more,
        readAt: list?.readAt,
      }
    : former?.ids.includes(id)
      ? former
      : { ids: [id], first: position.number, count: position.count, more: position.more }
  const isNew = (other: string | null): other is string => other !== null && !openedList.ids.includes(other)
  const before = openedList.ids[0] === id && isNew(position.previous) ? [position.previous] : []
  const after = openedList.ids.at(-1) === id && isNew(position.next) ? [position.next] : []
  return {
    ...openedList,
    ids: [...before, ...openedList.ids, ...after],
    // If an application now precedes the one at position 1, the positions are no longer known.
    first:
      openedList.first === null || before.length >= openedList.first
        ? null
        : openedList.first - before.length,
  }
}

/** The ids of a list, as far as it was read. */
export function idsOf(list: Pick<ReadRows, 'applications'> | undefined): string[] {
  return list?.applications.map(({ id }) => id) ?? []
}
