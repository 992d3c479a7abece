import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { PostgrestError } from '@supabase/postgrest-js'

import { mostAtOnce } from '../../../application/limits.ts'
import type { CallDesk, LetterPosition, LettersOverview, OutboxState } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'

/** Milliseconds between two looks at how it stands. */
const lookAgain = 20_000

/** How it stands with the letters, looked at again and again while the page is seen. */
export function useLetters(callDesk: CallDesk) {
  return useQuery({
    queryKey: ['letters', 'overview'],
    queryFn: ({ signal }) => callDesk('desk_letters', {}, signal),
    refetchInterval: lookAgain,
    refetchOnWindowFocus: true,
  })
}

/** Shows what was saved at once: the fields that follow it never go back to what was there before. */
export function useKeepStanding() {
  const queries = useQueryClient()
  return (change: (former: LettersOverview) => LettersOverview) =>
    queries.setQueryData<LettersOverview>(['letters', 'overview'], (former) => former && change(former))
}

/** The drafts of an occasion, page by page. */
export function useDrafts(callDesk: CallDesk, occasion: string) {
  return useInfiniteQuery({
    queryKey: ['letters', 'drafts', occasion],
    queryFn: ({ pageParam: after, signal }) => callDesk('desk_drafts', { occasion, after }, signal),
    initialPageParam: null as LetterPosition | null,
    getNextPageParam: ({ next }) => next,
    refetchOnWindowFocus: 'always',
  })
}

/** The letters that did not leave yet, or that did not arrive, page by page. */
export function useOutbox(callDesk: CallDesk, state: OutboxState) {
  return useInfiniteQuery({
    queryKey: ['letters', 'outbox', state],
    queryFn: ({ pageParam: after, signal }) => callDesk('desk_outbox', { state, after }, signal),
    initialPageParam: null as LetterPosition | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: lookAgain,
    refetchOnWindowFocus: 'always',
  })
}

/** The letters of an application, the oldest first. */
export function useLettersOf(callDesk: CallDesk, application: string) {
  const { data, error } = useQuery({
    queryKey: ['letters', 'of', application],
    queryFn: ({ signal }) => callDesk('desk_letters_of', { applications: [application] }, signal),
    refetchOnWindowFocus: 'always',
  })
  return { letters: data ?? [], isRead: data !== undefined, error }
}

/** What became of the letters of these applications, the oldest first; of very many, those of the last ones. */
export function useLetterStates(callDesk: CallDesk, applications: readonly string[]) {
  const { data } = useQuery({
    queryKey: ['letters', 'states', applications],
    queryFn: ({ signal }) =>
      callDesk('desk_letter_states', { applications: applications.slice(-mostAtOnce) }, signal),
    enabled: applications.length > 0,
    // Of the rows that were there before, until those of all have come.
    placeholderData: keepPreviousData,
    refetchInterval: lookAgain,
    refetchOnWindowFocus: 'always',
  })
  return data ?? []
}

/** An act on letters: whatever shows letters is read anew after it, whether it succeeded or not. */
export function useLetterAct<Given, Answer>(
  act: (given: Given, signal: AbortSignal) => Promise<Answer>,
  onSuccess: (answer: Answer, given: Given) => void = () => {},
) {
  const queries = useQueryClient()
  return useAct(act, {
    onSuccess,
    onSettled: () => queries.invalidateQueries({ queryKey: ['letters'] }),
  })
}

/** Whether the database says that something is not as whoever acts has seen it. */
export function isConflict(error: unknown): boolean {
  return error instanceof PostgrestError && error.code === 'PT409'
}
