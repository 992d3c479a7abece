import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query'

import { mostAtOnce, pageSize } from '../../../application/limits.ts'
import type { CallDesk, Filter, ListPage, Position } from '../../../client/desk.ts'
import { zone } from '../dates.ts'
import { useJudge } from '../judging/JudgeProvider.tsx'

/** Calls that one page may take: each looks at a bounded number of applications, of which few may be let through. */
const mostCalls = 10
/** Milliseconds between two looks for what came meanwhile. */
const lookAgain = 15_000

/**
 * The list that a filter lets through, page by page.
 *
 * @param use Whether it is the list that is looked at: then it is read anew whenever somebody comes to it. What stands
 *   before and after an application goes by the list as it was left, if it was read.
 */
export function useApplications(callDesk: CallDesk, filter: Filter, use: 'shown' | 'left') {
  const anew = use === 'shown' ? 'always' : false
  return useInfiniteQuery({
    queryKey: listKey(filter),
    queryFn: ({ pageParam, signal }) => readPage(callDesk, filter, pageParam, signal),
    initialPageParam: null as Position | null,
    getNextPageParam: ({ next }) => next,
    enabled: use === 'shown',
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
): Promise<ListPage> {
  let page: ListPage = { applications: [], letters: [], next: after }
  for (let calls = 0; calls < mostCalls; calls += 1) {
    const more = await callDesk('desk_list', { filter, after: page.next }, signal)
    page = {
      applications: [...page.applications, ...more.applications],
      letters: [...page.letters, ...more.letters],
      next: more.next,
    }
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
 * erased and how many are missing is told, and how their letters stand.
 *
 * @param pages Those of the list, once it was read.
 * @param countedAt When the applications were counted last: what is missing is read after that, so that the counts and
 *   the list agree.
 */
export function useMeanwhile(
  callDesk: CallDesk,
  filter: Filter,
  pages: readonly ListPage[] | undefined,
  countedAt: number,
) {
  const { judge } = useJudge()
  const queries = useQueryClient()
  const { data } = useQuery({
    queryKey: ['meanwhile', filter, countedAt],
    queryFn: async ({ signal }) => {
      const { pages: now = [] } = queries.getQueryData<InfiniteData<ListPage>>(listKey(filter)) ?? {}
      const read = now.flatMap(({ applications }) => applications)
      const shown = read.slice(0, mostAtOnce).map(({ id, version }) => ({ id, version }))
      const oldest = read.length > mostAtOnce ? (read[mostAtOnce - 1] ?? null) : (now.at(-1)?.next ?? null)
      const meanwhile = await callDesk(
        'desk_meanwhile',
        { filter, shown, oldest: oldest && positionOf(oldest) },
        signal,
      )
      for (const each of meanwhile.changed) judge.learn(each)
      return { ...meanwhile, shown: new Set(shown.map(({ id }) => id)), first: now[0] }
    },
    // Beside a list that has not come yet everything would be missing.
    enabled: countedAt > 0 && pages !== undefined,
    placeholderData: keepPreviousData,
    // By the very page it is known whether the list was read anew since.
    structuralSharing: false,
    gcTime: 0,
  })
  const lettersRead = pages?.flatMap(({ letters }) => letters) ?? []
  if (data === undefined || data.first !== pages?.[0]) {
    return { gone: new Set(data?.gone), newer: 0, older: 0, more: false, letters: lettersRead }
  }
  const { gone, newer, older, more, letters, shown } = data
  return {
    gone: new Set(gone),
    newer,
    older,
    more: more && newer + older > 0,
    // The list may have been read on since.
    letters: [...lettersRead.filter(({ application }) => !shown.has(application)), ...letters],
  }
}

function positionOf({ created_at, id }: Position): Position {
  return { created_at, id }
}
