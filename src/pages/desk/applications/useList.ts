import { hashKey, useQuery } from '@tanstack/react-query'

import type { Overview } from '../../../client/desk/applications.ts'
import { filterOf, type Filters } from '../kit/filters.ts'
import { useDesk } from '../kit/useDesk.tsx'

/**
 * A list as it is shown. It is read again whenever somebody comes to it, and its rows keep their places as long as they look at
 * it. While another search or filter is on its way, the list before stays.
 *
 * @returns `list`, undefined until something was read; `isStale`, whether it is the one before; `overview`, the last counts;
 *   `found`, the counts of this very list; and the changes since it was read: what is gone, how many are missing, and the state of
 *   letters and RSVPs.
 */
export function useList(filters: Filters) {
  const desk = useDesk()
  const filter = filterOf(filters)
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    ...desk.list(filter),
    staleTime: 0,
    refetchOnWindowFocus: true,
    // Never under another tab.
    placeholderData: (former) => (former?.filter.status === filter.status ? former : undefined),
  })
  const { data: refreshed } = useQuery({ ...desk.refresh(data), enabled: data !== undefined && !isFetching })
  const isOfFilter = data !== undefined && refreshed !== undefined && listKey(refreshed) === listKey(data)
  const changes = isOfFilter && refreshed.readAt === data.readAt ? refreshed.changes : undefined
  const looked = new Set(changes && refreshed?.shown)
  return {
    list: data,
    key: data && listKey(data),
    isStale: isPlaceholderData,
    error,
    readAgain: () => void refetch(),
    overview: refreshed?.overview,
    found: isOfFilter ? refreshed.overview.counts : undefined,
    changes: {
      gone: new Set(refreshed?.changes.gone),
      newer: changes?.newer ?? 0,
      older: changes?.older ?? 0,
      more: changes?.more ?? false,
      // The list may have been read on since.
      letters: [
        ...(data?.letters.filter(({ application }) => !looked.has(application)) ?? []),
        ...(changes?.letters ?? []),
      ],
      answers: changes?.answers ?? {},
    },
  }
}

export type Changes = ReturnType<typeof useList>['changes']
export type Counts = Overview['counts']

const listKey = ({ filter }: { filter: object }) => hashKey([filter])
