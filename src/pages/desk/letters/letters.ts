import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { PostgrestError } from '@supabase/postgrest-js'
import { useCallback } from 'react'

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

/** The letters of an application, the oldest first, where nothing else of it is shown. */
export function useLettersOf(callDesk: CallDesk, application: string) {
  const { data } = useQuery({
    queryKey: ['letters', 'of', application],
    queryFn: ({ signal }) => callDesk('desk_letters_of', { applications: [application] }, signal),
    refetchOnWindowFocus: 'always',
  })
  return { letters: data ?? [], isRead: data !== undefined }
}

/** Reads anew whatever shows letters: an application and a list come with theirs. */
export function useReadLettersAnew() {
  const queries = useQueryClient()
  return useCallback(
    () =>
      Promise.all(
        ['letters', 'application', 'meanwhile'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      ),
    [queries],
  )
}

/** An act on letters: whatever shows letters is read anew after it, whether it succeeded or not. */
export function useLetterAct<Given, Answer>(
  act: (given: Given, signal: AbortSignal) => Promise<Answer>,
  onSuccess: (answer: Answer, given: Given) => void = () => {},
) {
  const onSettled = useReadLettersAnew()
  return useAct(act, { onSuccess, onSettled })
}

/** Whether the database says that something is not as whoever acts has seen it. */
export function isConflict(error: unknown): boolean {
  return error instanceof PostgrestError && error.code === 'PT409'
}
