import { useEffect } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { useApplications, useOverview } from '../list/applications.ts'
import { filterOf, type Asked } from '../list/asked.ts'

/** Pages that are read to find an application in a list: who follows a link to it has not read any. */
const mostPages = 20

/** What stands before and after an application in the list, and its place there in words. */
export function useNeighbours(
  callDesk: CallDesk,
  asked: Asked,
  id: string,
): { previous: string | undefined; next: string | undefined; words: string } {
  const filter = filterOf(asked)
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useApplications(callDesk, filter, false)
  const { data: overview } = useOverview(callDesk, filter)
  const ids = data?.pages.flatMap(({ applications }) => applications.map((each) => each.id)) ?? []
  const place = ids.indexOf(id)
  const pages = data?.pages.length ?? 0
  // The last one's next may be on the next page.
  const isAtEnd = place === -1 || place === ids.length - 1
  const readsOn = isAtEnd && hasNextPage && !isFetching && !isError && (pages < mostPages || place !== -1)
  useEffect(() => {
    if (readsOn) void fetchNextPage()
  }, [readsOn, fetchNextPage])
  const { count, more } = overview?.counts[asked.status] ?? { count: 0, more: true }
  const total = data && !hasNextPage ? String(ids.length) : `${Math.max(count, ids.length)}${more ? '+' : ''}`
  return {
    previous: place > 0 ? ids[place - 1] : undefined,
    next: place === -1 ? undefined : ids[place + 1],
    words: place === -1 ? '' : `${place + 1} of ${total}`,
  }
}
