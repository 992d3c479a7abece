import { useQuery } from '@tanstack/react-query'

import { polled } from './queries.ts'
import { useDesk } from './useDesk.tsx'

/** The seats, the people who are coming, and the waitlist of a retreat; by default, of the newest. */
export function usePlaces(edition?: number, enabled = true) {
  const { call, queue } = useDesk()
  return useQuery({
    queryKey: ['places', edition],
    queryFn: async ({ signal }) => {
      const places = await call('desk_places', { edition }, signal)
      for (const each of places.waitlist) queue.recordRead(each)
      return places
    },
    ...polled,
    enabled,
  })
}
