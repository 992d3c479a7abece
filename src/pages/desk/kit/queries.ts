import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  skipToken,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query'

import type { CallDesk } from '../../../client/desk.ts'
import type { Filter } from '../../../client/desk/applications.ts'
import type { ActName, Arguments, Calls } from '../../../client/desk/calls.ts'
import type { LetterPosition, LettersOverview, OutboxState } from '../../../client/desk/letters.ts'
import { zone } from './format.ts'
import type { DecisionQueue } from './decision-queue.ts'
import { partOf, readFirst, readOn, readRows, type List } from './list.ts'
import { leftWith, type Left } from './neighbours.ts'

/** The nouns that keys begin with. */
type Noun = 'refresh' | 'application' | 'letters' | 'places' | 'door'

/** The keys of everything that shows letters: an application and a list include theirs. */
const withLetters: Noun[] = ['letters', 'application', 'refresh']

/**
 * The beginnings of the keys that are read again after each act, whether it succeeded or not. What must not be shown for another
 * moment, as after erasing and switching blind reading, is dropped instead (responses.ts).
 */
export const readAgain = {
  desk_decide: ['refresh', 'application', 'letters', 'places'],
  desk_reveal: ['application'],
  desk_note: [],
  desk_erase: ['refresh', 'letters', 'application', 'places'],
  desk_set_blind: [],
  desk_set_notices: [],
  desk_set_door: ['door'],
  desk_set_template: withLetters,
  desk_remove_template: withLetters,
  desk_set_letters: withLetters,
  desk_send_test: [],
  desk_check_mail: ['letters'],
  desk_stop: withLetters,
  desk_write: withLetters,
  desk_write_to: withLetters,
  desk_edit: withLetters,
  desk_discard: withLetters,
  desk_release: withLetters,
  desk_withdraw: withLetters,
  desk_sent_by_hand: withLetters,
  desk_retry: withLetters,
  desk_readdress: withLetters,
  desk_settle: withLetters,
  desk_hand_over: ['application'],
  desk_remind: [...withLetters, 'places'],
  desk_set_places: ['places'],
  desk_set_answer: [...withLetters, 'places'],
  desk_keep_until: [...withLetters, 'places'],
} satisfies Record<ActName, readonly Noun[]>

/** Milliseconds between two looks at the list, and at whatever else changes by itself. */
const lookAtList = 15_000
const lookAgain = 20_000
/** The same while somebody waits for it, and for the connection. */
const lookSoon = 1_000
const askAgain = 2_000
/** Milliseconds in which what came with something else need not be read by itself. */
const justRead = 1_000

/** What the desk reads: each call with the key by which its answer is kept. */
export function queriesOf(call: CallDesk, queue: DecisionQueue, queries: QueryClient) {
  /** What one call answers. */
  const read = <Name extends keyof Calls>(queryKey: QueryKey, name: Name, given: Arguments<Name>) =>
    queryOptions({ queryKey, queryFn: ({ signal }) => call(name, given, signal) })
  /** How it stands, for as long as it is shown. */
  const followed = { refetchInterval: lookAgain, refetchOnWindowFocus: 'always' } as const
  const overviewOfLetters = queryOptions({
    ...read(['letters', 'overview'], 'desk_letters', {}),
    // What came with an application or with a page of letters is not read again beside it.
    staleTime: justRead,
    refetchInterval: ({ state }) => (state.data?.postman.is_checking ? lookSoon : lookAgain),
    refetchOnWindowFocus: true,
  })
  /** Reads something that how all letters stand comes with, and keeps that, unless something newer was kept meanwhile. */
  const withOverview = async <Answer extends { overview: LettersOverview }>(
    reading: () => Promise<Answer>,
  ) => {
    const begun = Date.now()
    const answer = await reading()
    const { queryKey } = overviewOfLetters
    if ((queries.getQueryState(queryKey)?.dataUpdatedAt ?? 0) < begun)
      queries.setQueryData(queryKey, answer.overview)
    return answer
  }
  const letters = {
    initialPageParam: null as LetterPosition | null,
    getNextPageParam: ({ next }: { next: LetterPosition | null }) => next,
    refetchOnWindowFocus: 'always',
  } as const
  const list = (filter: Filter) =>
    queryOptions({
      queryKey: ['list', filter],
      queryFn: ({ client, queryKey, signal }) =>
        readFirst(call, filter, client.getQueryData<List>(queryKey), signal),
      staleTime: Infinity,
      gcTime: Infinity,
    })
  /** What is known of a list after somebody left it, for the applications that were opened from it. */
  const left = (filter: Filter) =>
    queryOptions<Left>({ queryKey: ['left', filter], queryFn: skipToken, gcTime: Infinity })
  return {
    /** The list that a filter lets through, as far as it was read. */
    list,
    /**
     * Reads a list on.
     *
     * @throws What its call throws.
     */
    async readOn(filter: Filter, signal?: AbortSignal) {
      const { queryKey } = list(filter)
      let former: List | undefined
      let longer: List | undefined
      // A list that was read again meanwhile goes on from what it is then.
      do {
        former = queries.getQueryData(queryKey)
        longer = former && (await readOn(call, former, signal))
        if (!longer) return
      } while (queries.getQueryData(queryKey) !== former)
      const isReading = queries.isFetching({ queryKey, exact: true }) > 0
      queries.setQueryData(queryKey, longer)
      // What is on its way reads only as far as before.
      if (isReading) void queries.refetchQueries({ queryKey, exact: true })
    },
    /**
     * The counts, and how a list has changed since it was read, of one moment.
     *
     * @param asRead The list, as far as it was read; undefined where nothing was.
     */
    refresh: (asRead: List | undefined) =>
      queryOptions({
        queryKey: ['refresh', asRead?.filter, asRead?.readAt],
        queryFn: asRead
          ? async ({ signal }) => {
              const { filter, readAt } = asRead
              const part = partOf(asRead)
              const now = await call('desk_refresh', { filter, zone: zone(), ...part }, signal)
              for (const each of now.changes.changed) queue.learn(each)
              queue.forget(now.changes.gone)
              return { ...now, filter, readAt, shown: part.shown.map(({ id }) => id) }
            }
          : skipToken,
        placeholderData: keepPreviousData,
        refetchInterval: lookAtList,
        // Then the list is read again, and this follows.
        refetchOnReconnect: false,
        gcTime: 0,
      }),
    /** The first applications that a search finds. */
    found: (search: string, wanted: number) =>
      queryOptions({
        queryKey: ['letters', 'found', search],
        queryFn: ({ signal }) => readRows(call, { search }, null, wanted, signal),
        placeholderData: keepPreviousData,
      }),
    /** An application, and its place in the list that it was opened from. */
    application: (application: string, filter: Filter) =>
      queryOptions({
        queryKey: ['application', application, filter],
        queryFn: async ({ signal }) => {
          const opened = await withOverview(() => call('desk_application', { application, filter }, signal))
          const { place } = opened
          queue.learn(opened.application)
          if (place !== null) {
            const asRead = queries.getQueryData(list(filter).queryKey)
            queries.setQueryData(left(filter).queryKey, (former) =>
              leftWith(former, asRead, application, place),
            )
          }
          return opened
        },
      }),
    /** Tells whether an application that is shown has changed. */
    stamp: (application: string) => ({
      ...read(['stamp', application], 'desk_stamp', { application }),
      ...followed,
      refetchInterval: lookAtList,
      gcTime: 0,
    }),
    left,
    /** How it stands with the letters, beside what it came with. */
    letters: () => overviewOfLetters,
    /** The same for a screen that shows nothing else: whoever comes to it reads it anew. */
    lettersAnew: () => ({ ...overviewOfLetters, refetchOnMount: 'always' as const }),
    /** The drafts of an occasion, page by page. */
    drafts: (occasion: string) =>
      infiniteQueryOptions({
        ...letters,
        queryKey: ['letters', 'drafts', occasion],
        queryFn: ({ pageParam: after, signal }) =>
          withOverview(() => call('desk_drafts', { occasion, after }, signal)),
      }),
    /** The letters that did not leave yet, or that did not arrive, page by page. */
    outbox: (state: OutboxState) =>
      infiniteQueryOptions({
        ...letters,
        queryKey: ['letters', 'outbox', state],
        queryFn: ({ pageParam: after, signal }) =>
          withOverview(() => call('desk_outbox', { state, after }, signal)),
        refetchInterval: lookAgain,
      }),
    /** The letters of an application, the oldest first, where nothing else of it is shown. */
    lettersOf: (application: string) => ({
      ...read(['letters', 'of', application], 'desk_letters_of', { applications: [application] }),
      refetchOnWindowFocus: 'always' as const,
    }),
    /** A text, filled in for an application. */
    preview: (text: Arguments<'desk_preview'>) => ({
      ...read(['letters', 'preview', text], 'desk_preview', text),
      placeholderData: keepPreviousData,
    }),
    /** How many places there are, who comes, and who waits for one. */
    places: () =>
      queryOptions({
        queryKey: ['places'],
        queryFn: async ({ signal }) => {
          const places = await call('desk_places', {}, signal)
          for (const each of places.waitlist) queue.learn(each)
          return places
        },
        ...followed,
      }),
    /** What happened at the desk, page by page. */
    history: () =>
      infiniteQueryOptions({
        queryKey: ['history'],
        queryFn: ({ pageParam: after, signal }) => call('desk_history', { after }, signal),
        initialPageParam: null as { id: number } | null,
        getNextPageParam: ({ next }) => next,
        ...followed,
      }),
    /** The state of the door, and who changed it last. */
    door: () => ({ ...read(['door'], 'desk_door', {}), ...followed, refetchOnWindowFocus: true }),
    /**
     * Whether the server responds.
     *
     * @param saysOnline What the browser says of it: when that changes, it is asked at once.
     */
    connection: (saysOnline: boolean) => ({
      ...read(['connection', saysOnline], 'desk_me', {}),
      // The browser may say so before it is so.
      refetchInterval: askAgain,
      gcTime: 0,
    }),
    notices: () => read(['account', 'notices'], 'desk_notices', {}),
    blind: () => read(['account', 'blind'], 'desk_blind', {}),
  }
}
