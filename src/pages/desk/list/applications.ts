import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query'

import { mostAtOnce, pageSize } from '../../../application/limits.ts'
import type { CallDesk, Filter, Listed, Page, Position } from '../../../client/desk.ts'
import { zone } from '../dates.ts'
import { useJudge } from '../judging/JudgeProvider.tsx'

/** Calls that one page may take: each looks at a bounded number of applications, of which few may be let through. */
const mostCalls = 10
/** Milliseconds between two looks for what came meanwhile. */
const lookAgain = 15_000

/**
 * The list that a filter lets through, page by page.
 *
 * @param isShown Whether it is the list that is looked at: then it is read anew whenever somebody comes to it. What
 *   stands before and after an application goes by the list as it was left.
 */
export function useApplications(callDesk: CallDesk, filter: Filter, isShown: boolean) {
  const anew = isShown ? 'always' : false
  return useInfiniteQuery({
    queryKey: listKey(filter),
    queryFn: ({ pageParam, signal }) => readPage(callDesk, filter, pageParam, signal),
    initialPageParam: null as Position | null,
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnMount: anew,
    refetchOnWindowFocus: anew,
    refetchOnReconnect: anew,
  })
}

/** What the list of a filter is kept by. */
export function listKey(filter: Filter) {
  return ['list', filter] as const
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

/** How many there are, and how they are made up; read again and again while the page is looked at. */
export function useOverview(callDesk: CallDesk, filter: Filter) {
  return useQuery({
    queryKey: ['overview', filter],
    queryFn: ({ signal }) => callDesk('desk_overview', { filter, zone }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: lookAgain,
    refetchOnWindowFocus: 'always',
  })
}

/**
 * What became of the list that is shown, whose rows keep their places: what was decided on them is learned, what was
 * erased and what is missing is told.
 *
 * @param rows Those of the list, once it was read.
 * @param countedAt When the applications were counted last: what is missing is read after that, so that the counts and
 *   the list agree.
 */
export function useMeanwhile(
  callDesk: CallDesk,
  filter: Filter,
  rows: readonly Listed[] | undefined,
  countedAt: number,
) {
  const { judge } = useJudge()
  const queries = useQueryClient()
  const { data } = useQuery({
    queryKey: ['meanwhile', filter, countedAt],
    queryFn: async ({ signal }) => {
      const { pages = [] } = queries.getQueryData<InfiniteData<Page<Listed>>>(listKey(filter)) ?? {}
      const read = pages.flatMap(({ applications }) => applications)
      const shown = read.slice(0, mostAtOnce).map(({ id, version }) => ({ id, version }))
      const oldest = read.length > mostAtOnce ? (read[mostAtOnce - 1] ?? null) : (pages.at(-1)?.next ?? null)
      const meanwhile = await callDesk(
        'desk_meanwhile',
        { filter, shown, oldest: oldest && positionOf(oldest) },
        signal,
      )
      for (const each of meanwhile.changed) judge.learn(each)
      return meanwhile
    },
    // Beside a list that has not come yet everything would be missing.
    enabled: countedAt > 0 && rows !== undefined,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  const { gone = [], unseen = [], more = false } = data ?? {}
  const shown = new Set(rows?.map(({ id }) => id))
  // The list may have been read on since.
  const missing = unseen.filter(({ id }) => !shown.has(id))
  const newest = rows?.[0]
  const newer = missing.filter((each) => newest === undefined || isNewer(each, newest)).length
  return { gone: new Set(gone), newer, older: missing.length - newer, more: more && missing.length > 0 }
}

function positionOf({ created_at, id }: Position): Position {
  return { created_at, id }
}

/** Whether an application stands before another one in the list. What is finer than a millisecond stands at the end. */
function isNewer(one: Position, other: Position) {
  const later = Date.parse(one.created_at) - Date.parse(other.created_at)
  if (later !== 0) return later > 0
  return one.created_at === other.created_at ? one.id > other.id : one.created_at > other.created_at
}
