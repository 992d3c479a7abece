import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'

import type { CallDesk, Filter, Listed, Overview, Page, Position } from '../../../client/desk.ts'
import { zone } from '../dates.ts'

/** Applications that a call brings at the most. */
const pageSize = 50
/** Calls that one page may take: each looks at a bounded number of applications, of which few may be let through. */
const mostCalls = 10
/** Milliseconds between two looks for what came meanwhile. */
const lookAgain = 15_000

/** The list that a filter lets through, page by page. It stays as it was read until it is asked for anew. */
export function useApplications(callDesk: CallDesk, filter: Filter) {
  return useInfiniteQuery({
    queryKey: ['list', filter],
    queryFn: ({ pageParam, signal }) => readPage(callDesk, filter, pageParam, signal),
    initialPageParam: null as Position | null,
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity,
    gcTime: Infinity,
  })
}

/** Reads on until there are so many, or for as long as one page may take. */
export async function readPage(
  callDesk: CallDesk,
  filter: Filter,
  after: Position | null,
  signal: AbortSignal,
  wanted: number = pageSize,
): Promise<Page<Listed>> {
  let page: Page<Listed> = { applications: [], next: after }
  for (let calls = 0; calls < mostCalls; calls += 1) {
    const more = await callDesk('desk_list', { filter, after: page.next }, signal)
    page = { applications: [...page.applications, ...more.applications], next: more.next }
    if (page.next === null || page.applications.length >= wanted) break
  }
  return page
}

/** How many there are, and how they are made up. */
export function useOverview(callDesk: CallDesk, filter: Filter): Overview | undefined {
  const { data } = useQuery({
    queryKey: ['overview', filter],
    queryFn: ({ signal }) => callDesk('desk_overview', { filter, zone }, signal),
    placeholderData: keepPreviousData,
  })
  return data
}

/**
 * How many came since the list was read, looked for again and again while the page is seen.
 *
 * @param newest The first of the list; null while it is empty.
 * @returns `more`: there may be more than were counted.
 */
export function useNews(callDesk: CallDesk, filter: Filter, newest: Position | null, isRead: boolean) {
  const { data } = useQuery({
    queryKey: ['news', filter, newest],
    queryFn: async ({ signal }) => {
      const { applications, next } = await callDesk('desk_list', { filter }, signal)
      const count = applications.filter((each) => newest === null || isNewer(each, newest)).length
      return { count, more: count === applications.length && count > 0 && next !== null }
    },
    enabled: isRead,
    initialData: { count: 0, more: false },
    staleTime: lookAgain,
    initialDataUpdatedAt: () => Date.now(),
    refetchInterval: lookAgain,
    refetchOnWindowFocus: true,
  })
  return data
}

/** Whether an application stands before another one in the list. What is finer than a millisecond stands at the end. */
function isNewer(one: Position, other: Position) {
  const later = Date.parse(one.created_at) - Date.parse(other.created_at)
  if (later !== 0) return later > 0
  return one.created_at === other.created_at ? one.id > other.id : one.created_at > other.created_at
}
