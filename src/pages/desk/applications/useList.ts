import { hashKey, useQuery } from '@tanstack/react-query'

import type { Overview } from '../../../client/desk/applications.ts'
import { filterOf, type Filters } from '../data/filters.ts'
import { useDesk } from '../data/useDesk.tsx'

/**
 * Reads a list and follows its changes. The list is refetched when the organiser returns to it. Its rows keep their order
 * while it is shown. While another search or filter loads, the former list stays visible.
 *
 * @returns `list`, undefined until it was read; `key`, which is the same for each read of a list; `isStale`, whether `list` is
 *   the former list; `overview`, the last counts that were read; `hasCounts`, whether they are of this retreat; `matchCounts`,
 *   these counts if they are of this list; `changes` since it was read: erased, withdrawn and new applications, letters, RSVPs, marks
 *   and new notes; and what came to this retreat since yesterday.
 */
export function useList(filters: Filters) {
  const desk = useDesk()
  const filter = filterOf(filters)
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    ...desk.list(filter),
    staleTime: 0,
    refetchOnWindowFocus: true,
    // Never shows the rows of another tab or retreat.
    placeholderData: (former) =>
      former && former.filter.status === filter.status && former.filter.edition === filter.edition
        ? former
        : undefined,
  })
  const { data: refreshed } = useQuery({ ...desk.refresh(data), enabled: data !== undefined && !isFetching })
  const isSameList = data !== undefined && refreshed !== undefined && listKey(refreshed) === listKey(data)
  const changes = isSameList && refreshed.readAt === data.readAt ? refreshed.changes : undefined
  const hasCounts = refreshed?.filter.edition === filter.edition
  // Rows read after the last refresh keep what came with them.
  const refreshedIds = new Set(changes && refreshed?.shown)
  const isKept = (id: string) => !refreshedIds.has(id)
  return {
    list: data,
    key: data && listKey(data),
    isStale: isPlaceholderData,
    error,
    refetch: () => void refetch(),
    overview: refreshed?.overview,
    hasCounts,
    matchCounts: isSameList ? refreshed.overview.counts : undefined,
    changes: {
      erased: new Set(refreshed?.changes.gone),
      withdrawn: new Set([
        ...(data?.applications.flatMap(({ id, withdrawn_at: at }) => (at && isKept(id) ? id : [])) ?? []),
        ...(changes?.withdrawn ?? []),
      ]),
      newer: changes?.newer ?? 0,
      older: changes?.older ?? 0,
      more: changes?.more ?? false,
      letters: [
        ...(data?.letters.filter(({ application }) => isKept(application)) ?? []),
        ...(changes?.letters ?? []),
      ],
      rsvps: changes?.answers ?? {},
      marks: {
        ...Object.fromEntries(Object.entries(data?.marks ?? {}).filter(([id]) => isKept(id))),
        ...changes?.marks,
      },
      newNotes: new Set([...(data?.new_notes.filter(isKept) ?? []), ...(changes?.new_notes ?? [])]),
      sinceYesterday: hasCounts ? refreshed?.overview.since_yesterday : undefined,
    },
  }
}

/** The changes of a list since it was read. */
export type Changes = ReturnType<typeof useList>['changes']
/** The number of applications of each status. */
export type Counts = Overview['counts']

const listKey = ({ filter }: { filter: object }) => hashKey([filter])
