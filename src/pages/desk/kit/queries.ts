import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  skipToken,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query'

import { mostAtOnce, pageSize } from '../../../application/limits.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { Filter, ListPage, Position } from '../../../client/desk/applications.ts'
import type { ActName, Arguments, Calls } from '../../../client/desk/calls.ts'
import type { LetterPosition, LettersOverview, OutboxState } from '../../../client/desk/letters.ts'
import { zone } from './format.ts'
import type { DecisionQueue } from './decision-queue.ts'
import { leftWith, type Left } from './neighbours.ts'

/** The nouns that keys begin with. */
type Noun = 'overview' | 'meanwhile' | 'application' | 'letters' | 'places' | 'door'

/** The keys of everything that shows letters: an application and a list include theirs. */
const withLetters: Noun[] = ['letters', 'application', 'meanwhile']

/**
 * The beginnings of the keys that are read again after each act, whether it succeeded or not. What must not be shown for another
 * moment, as after erasing and switching blind reading, is dropped instead: `forget` and `startOver` in useDesk.tsx.
 */
export const readAgain = {
  desk_decide: ['overview', 'application', 'letters', 'places'],
  desk_reveal: ['application'],
  desk_note: [],
  desk_erase: ['overview', 'letters', 'application', 'places'],
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
  desk_set_answer: [...withLetters, 'overview', 'places'],
  desk_keep_until: [...withLetters, 'overview', 'places'],
} satisfies Record<ActName, readonly Noun[]>

/** Calls that one page may take: each looks at a bounded number of applications, of which few may be let through. */
const mostCalls = 10
/** Milliseconds between two looks at the list, and at whatever else changes by itself. */
const lookAtList = 15_000
const lookAgain = 20_000
/** The same while somebody waits for it. */
const lookSoon = 1_000
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
    infiniteQueryOptions({
      queryKey: ['list', filter],
      queryFn: ({ pageParam, signal }) => readPage(call, filter, pageParam, signal),
      initialPageParam: null as Position | null,
      getNextPageParam: ({ next }) => next,
      staleTime: Infinity,
      gcTime: Infinity,
    })
  /** What is known of a list after somebody left it, for the applications that were opened from it. */
  const left = (filter: Filter) =>
    queryOptions<Left>({ queryKey: ['left', filter], queryFn: skipToken, gcTime: Infinity })
  return {
    /** The list that a filter lets through, page by page. */
    list,
    /** How many there are, and how they are made up. */
    overview: (filter: Filter) =>
      queryOptions({
        queryKey: ['overview', filter],
        queryFn: ({ signal }) => call('desk_overview', { filter, zone: zone() }, signal),
        placeholderData: keepPreviousData,
        refetchInterval: lookAtList,
        refetchOnWindowFocus: 'always',
      }),
    /**
     * What became of a list that is shown.
     *
     * @param countedAt When the applications were counted last: what is missing is read after that, so that the counts
     *   and the list agree.
     */
    meanwhile: (filter: Filter, countedAt: number) =>
      queryOptions({
        queryKey: ['meanwhile', filter, countedAt],
        queryFn: async ({ signal }) => {
          const { pages = [] } = queries.getQueryData(list(filter).queryKey) ?? {}
          const listed = pages.flatMap(({ applications }) => applications)
          const shown = listed.slice(0, mostAtOnce).map(({ id, version }) => ({ id, version }))
          const end =
            listed.length > mostAtOnce ? (listed[mostAtOnce - 1] ?? null) : (pages.at(-1)?.next ?? null)
          const oldest = end && { created_at: end.created_at, id: end.id }
          const meanwhile = await call('desk_meanwhile', { filter, shown, oldest }, signal)
          for (const each of meanwhile.changed) queue.learn(each)
          return { ...meanwhile, shown: new Set(shown.map(({ id }) => id)), first: pages[0] }
        },
        placeholderData: keepPreviousData,
        // The identity of the page tells whether the list was read anew since.
        structuralSharing: false,
        gcTime: 0,
      }),
    /** The first applications that a search finds. */
    found: (search: string, wanted: number) =>
      queryOptions({
        queryKey: ['letters', 'found', search],
        queryFn: ({ signal }) => readPage(call, { search }, null, signal, wanted),
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
            const pages = queries.getQueryData(list(filter).queryKey)?.pages
            queries.setQueryData(left(filter).queryKey, (former) =>
              leftWith(former, pages, application, place),
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
    notices: () => read(['account', 'notices'], 'desk_notices', {}),
    blind: () => read(['account', 'blind'], 'desk_blind', {}),
  }
}

/** Reads on until there are enough rows for a page, or the page has taken as many calls as it may. */
async function readPage(
  call: CallDesk,
  filter: Filter,
  after: Position | null,
  signal: AbortSignal,
  wanted: number = pageSize,
): Promise<ListPage> {
  let page: ListPage = { applications: [], letters: [], next: after }
  for (let calls = 0; calls < mostCalls; calls += 1) {
    const more = await call('desk_list', { filter, after: page.next }, signal)
    page = {
      applications: [...page.applications, ...more.applications],
      letters: [...page.letters, ...more.letters],
      next: more.next,
    }
    if (page.next === null || page.applications.length >= wanted) break
  }
  return page
}
