import { infiniteQueryOptions, queryOptions, skipToken } from '@tanstack/react-query'

import type { LetterCursor, OutboxState } from '../../../client/desk/letters.ts'
import { polled } from '../data/queries.ts'
import type { useDesk } from '../data/useDesk.tsx'

type Desk = Pick<ReturnType<typeof useDesk>, 'call' | 'withOverview'>

const pages = {
  initialPageParam: null as LetterCursor | null,
  getNextPageParam: ({ next }: { next: LetterCursor | null }) => next,
  refetchOnWindowFocus: 'always',
} as const

/** The drafts of an occasion, or (null) of all decisions, page by page. */
export function draftPages({ call, withOverview }: Desk, occasion: string | null) {
  return infiniteQueryOptions({
    ...pages,
    queryKey: ['letters', 'drafts', occasion],
    queryFn: ({ pageParam: after, signal }) =>
      withOverview(() => call('desk_drafts', { occasion, after }, signal)),
  })
}

/** The letters that were not sent yet or could not be delivered, page by page. */
export function outboxPages({ call, withOverview }: Desk, state: OutboxState) {
  return infiniteQueryOptions({
    ...pages,
    ...polled,
    queryKey: ['letters', 'outbox', state],
    queryFn: ({ pageParam: after, signal }) =>
      withOverview(() => call('desk_outbox', { state, after }, signal)),
  })
}

/** When a letter to an address last failed. Text that cannot be an address yet is not asked about. */
export function addressQuery({ call }: Pick<Desk, 'call'>, address: string) {
  return queryOptions({
    queryKey: ['letters', 'address', address],
    queryFn: /^\S+@\S+\.\S+$/.test(address)
      ? ({ signal }) => call('desk_address', { address }, signal)
      : skipToken,
  })
}
