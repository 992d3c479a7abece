import {
  keepPreviousData,
  queryOptions,
  skipToken,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query'

import type { CallDesk } from '../../../client/desk.ts'
import type { Filter } from '../../../client/desk/applications.ts'
import type { Arguments, Calls } from '../../../client/desk/calls.ts'
import type { LettersOverview } from '../../../client/desk/letters.ts'
import { browserTimeZone } from '../kit/format.ts'
import type { DecisionQueue } from './decision-queue.ts'
import { refreshArgumentsOf, readList, readMore, type List } from './list.ts'

/** The first part of a query's key, for the queries that acts refetch. */
export type KeyPrefix =
  | 'list changes'
  | 'application'
  | 'letters'
  | 'places'
  | 'questions'
  | 'retention'
  | 'door'
  | 'page'
  | 'junk'
  | 'reading'
  | 'organisers'
  | 'first steps'

/** The keys of the data that decisions change. */
export const refetchedByDecisions: readonly KeyPrefix[] = ['list changes', 'application', 'letters', 'places']

/** Milliseconds between two reads of the list's changes. */
export const listInterval = 15_000
/** Milliseconds between two reads of other data that changes on the server. */
const defaultInterval = 20_000
/** Milliseconds between two reads while a mail check runs, and between two attempts to reconnect. */
const mailCheckInterval = 1_000
const reconnectInterval = 2_000
/** Milliseconds for which data that came with another response counts as fresh. */
const freshDuration = 1_000

/** The options of a query that is refetched regularly while it is shown. */
export const polled = { refetchInterval: defaultInterval, refetchOnWindowFocus: 'always' } as const

/**
 * Whether a mail check runs. A response that lacks this must not throw here: the query would then not tell the screens that it
 * arrived, and they would show the former one.
 */
const isCheckingMail = (overview: Partial<LettersOverview> | undefined) => overview?.postman?.is_checking

/** The queries of the desk, each with its key. Screens whose script loads later have the queries that only they use. */
export function queriesOf(call: CallDesk, queue: DecisionQueue, queries: QueryClient) {
  const read = <Name extends keyof Calls>(queryKey: QueryKey, name: Name, args: Arguments<Name>) =>
    queryOptions({ queryKey, queryFn: ({ signal }) => call(name, args, signal) })
  const overviewOfLetters = queryOptions({
    ...read(['letters', 'overview'], 'desk_letters', {}),
    // The overview that came with an application or a page of letters is not read again.
    staleTime: freshDuration,
    refetchInterval: ({ state }) => (isCheckingMail(state.data) ? mailCheckInterval : defaultInterval),
    refetchOnWindowFocus: true,
  })
  /**
   * Makes a call whose response includes the overview of letters, except for readers. Stores the overview unless a newer one is
   * stored.
   */
  const withOverview = async <Response extends { overview?: LettersOverview }>(
    makeCall: () => Promise<Response>,
  ) => {
    const startedAt = Date.now()
    const response = await makeCall()
    const { queryKey } = overviewOfLetters
    if ((queries.getQueryState(queryKey)?.dataUpdatedAt ?? 0) < startedAt)
      queries.setQueryData(queryKey, response.overview)
    return response
  }
  const list = (filter: Filter) =>
    queryOptions({
      queryKey: ['list', filter],
      queryFn: ({ client, queryKey, signal }) =>
        readList(call, filter, client.getQueryData<List>(queryKey), signal),
      staleTime: Infinity,
      gcTime: Infinity,
    })
  return {
    withOverview,
    /** A list, as far as it was read. */
    list,
    /**
     * Reads the next page of a list.
     *
     * @throws The errors of the call.
     */
    async readMore(filter: Filter, signal?: AbortSignal) {
      const { queryKey } = list(filter)
      let former: List | undefined
      let longerList: List | undefined
      // If the list was read again meanwhile, the next page must follow the newer list.
      do {
        former = queries.getQueryData(queryKey)
        longerList = former && (await readMore(call, former, signal))
        if (!longerList) return
      } while (queries.getQueryData(queryKey) !== former)
      const isReading = queries.isFetching({ queryKey, exact: true }) > 0
      queries.setQueryData(queryKey, longerList)
      // A refetch in progress reads only the former length.
      if (isReading) void queries.refetchQueries({ queryKey, exact: true })
    },
    /**
     * The counts, and the changes to a list since it was read, both as of one moment.
     *
     * @param loadedList The list, as far as it was read; undefined if nothing was.
     */
    refresh: (loadedList: List | undefined) =>
      queryOptions({
        queryKey: ['list changes', loadedList?.filter, loadedList?.readAt],
        queryFn: loadedList
          ? async ({ signal }) => {
              const { filter, readAt } = loadedList
              const part = refreshArgumentsOf(loadedList)
              const update = await call('desk_refresh', { filter, zone: browserTimeZone(), ...part }, signal)
              for (const each of update.changes.changed) queue.recordRead(each)
              queue.forget(update.changes.gone)
              return { ...update, filter, readAt, shown: part.shown.map(({ id }) => id) }
            }
          : skipToken,
        placeholderData: keepPreviousData,
        refetchInterval: listInterval,
        // On reconnecting, the list itself is refetched, and this query follows.
        refetchOnReconnect: false,
        gcTime: 0,
      }),
    /** The overview of letters, for screens that also show other data. */
    letters: () => overviewOfLetters,
    /** The overview of letters for a screen that shows no other data: it is always refetched when the screen opens. */
    freshLetters: () => ({ ...overviewOfLetters, refetchOnMount: 'always' as const }),
    /**
     * Checks whether the server responds.
     *
     * @param isBrowserOnline Whether the browser reports that it is online. A change triggers a check immediately.
     */
    connection: (isBrowserOnline: boolean) => ({
      ...read(['connection', isBrowserOnline], 'desk_me', {}),
      // The browser may report online too early.
      refetchInterval: reconnectInterval,
      gcTime: 0,
    }),
  }
}
