import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'

import type { Filter } from '../../../client/desk.ts'
import { useDesk } from '../kit/useDesk.tsx'
import { idsOf, neighboursIn } from './neighbours.ts'

/** What stands before and after an application in the list as it was left, and its place there in words. */
export function useNeighbours(filter: Filter, id: string) {
  const desk = useDesk()
  const { data: left } = useQuery(desk.left(filter))
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery({
    ...desk.list(filter),
    enabled: false,
  })
  // Where a list was left that goes on, it is read on: whoever goes back finds the application in it.
  const isAtEnd = data?.pages.at(-1)?.applications.at(-1)?.id === id
  const readsOn = isAtEnd && hasNextPage && !isFetching && !isError
  useEffect(() => {
    if (readsOn) void fetchNextPage()
  }, [readsOn, fetchNextPage])
  if (left?.ids.includes(id)) return neighboursIn(left, id)
  // Until its place has come the list is gone through as it was read.
  return neighboursIn({ ids: idsOf(data?.pages), first: null, count: 0, more: false }, id)
}
