import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'

import type { Filter, ListPosition } from '../../../client/desk/applications.ts'
import { useApplicationQueries } from './application-queries.ts'
import { idsOf, withOpened } from './opened-list.ts'
import { useDecisionQueue, useDesk } from '../data/useDesk.tsx'
import { neighboursIn } from './neighbours.ts'

/** The next page is read when at most this many rows of the list are left. */
const nearEnd = 10

/**
 * The neighbours of an application in the list that it was opened from, and its position in words. In the list of new
 * applications, the words include how many are left, except for readers, who decide nothing.
 *
 * @param place Its position in the list, as read with it. It counts if the list as it was read lacks the application, which somebody
 *   has moved to another list.
 */
export function useNeighbours(filter: Filter, id: string, place: ListPosition | null | undefined) {
  const desk = useDesk()
  const { queue } = useDecisionQueue()
  const { data: openedList } = useQuery(useApplicationQueries().openedList(filter))
  const { data: list } = useQuery({ ...desk.list(filter), enabled: false })
  // Reads the next page before the end. A failure is retried at the end; the list also has its More button.
  const lastRows = list?.applications.slice(-nearEnd) ?? []
  const isNearEnd = lastRows.some((each) => each.id === id)
  const isAtEnd = lastRows.at(-1)?.id === id
  const readMore = useEffectEvent(() => desk.readMore(filter).catch(() => {}))
  useEffect(() => {
    if (isNearEnd || isAtEnd) void readMore()
  }, [isNearEnd, isAtEnd])
  // Until the position is known, Previous and Next follow the list as it was read.
  const loadedList = { ids: idsOf(list), first: null, count: 0, more: false }
  const aroundIt = place ? withOpened(undefined, undefined, id, place) : loadedList
  const known = [openedList, loadedList].find((each) => each?.ids.includes(id)) ?? aroundIt
  /** Whether a decision has moved it to another tab. */
  const hasLeft = (other: string) => {
    const { status } = filter
    if (status === undefined) return false
    // Of an application that is not in the loaded list, only the organiser's own decisions and later reads are known.
    const unread = { id: other, status, version: 0 }
    const row = list?.applications.find((each) => each.id === other) ?? unread
    return queue.currentOf(row).status !== status
  }
  return {
    ...neighboursIn(
      known,
      id,
      filter.status === 'new' && !desk.isReader ? known.ids.filter(hasLeft).length : null,
    ),
    /** The next application of the list, without those that have left it. */
    nextInList: () => known.ids.slice(known.ids.indexOf(id) + 1).find((other) => !hasLeft(other)),
  }
}
