import { useQuery } from '@tanstack/react-query'

import { polled } from '../data/queries.ts'
import { useDesk } from '../data/useDesk.tsx'

/** The state of the door, and who changed it last. */
export function useDoor() {
  const { call } = useDesk()
  return useQuery({
    queryKey: ['door'],
    queryFn: ({ signal }) => call('desk_door', {}, signal),
    ...polled,
    refetchOnWindowFocus: true,
  })
}
