import { queryOptions, skipToken, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'

import { isUuid } from '../../../application/uuid.ts'
import type { Filter, Summary } from '../../../client/desk/applications.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { withOpened, type OpenedList } from './opened-list.ts'
import { listInterval, polled } from '../data/queries.ts'
import { useDesk } from '../data/useDesk.tsx'

/** Milliseconds between two reads while a letter is being sent. */
const sendingInterval = 2_000

/** The queries of an opened application. The list does not load them. */
export function useApplicationQueries() {
  const desk = useDesk()
  const queries = useQueryClient()
  return useMemo(() => applicationQueriesOf(desk, queries), [desk, queries])
}

function applicationQueriesOf(
  { call, queue, list, withOverview }: ReturnType<typeof useDesk>,
  queries: QueryClient,
) {
  /** The ids of a list from which an application was opened. */
  const openedList = (filter: Filter) =>
    queryOptions<OpenedList>({ queryKey: ['opened', filter], queryFn: skipToken, gcTime: Infinity })
  return {
    openedList,
    /** An application, and its position in the list that it was opened from. */
    application: (application: string, filter: Filter) =>
      queryOptions({
        queryKey: ['application', application, filter],
        queryFn: async ({ signal }) => {
          if (!isUuid(application)) throw new RefusedCall('There is no such application.', 'PT404')
          const opened = await withOverview(() => call('desk_application', { application, filter }, signal))
          const { place: position } = opened
          queue.recordRead(opened.application)
          if (position !== null) {
            const loadedList = queries.getQueryData(list(filter).queryKey)
            const hasLeft = (row: Summary) =>
              filter.status !== undefined && queue.currentOf(row).status !== filter.status
            const leftCount = loadedList?.applications.filter(hasLeft).length
            queries.setQueryData(openedList(filter).queryKey, (former) => ({
              ...withOpened(former, loadedList, application, position, leftCount),
              isMarking: opened.is_marking,
            }))
          }
          return opened
        },
      }),
    /**
     * A cheap read that shows whether an application on screen has changed.
     *
     * @param isBeingSent Whether a letter to the applicant is being sent. Then it reads more often.
     */
    stamp: (application: string, isBeingSent: () => boolean) => ({
      queryKey: ['stamp', application],
      queryFn: ({ signal }: { signal: AbortSignal }) => call('desk_stamp', { application }, signal),
      ...polled,
      refetchInterval: () => (isBeingSent() ? sendingInterval : listInterval),
      gcTime: 0,
    }),
  }
}
