import { useQuery } from '@tanstack/react-query'

import { polled } from '../data/queries.ts'
import { useDesk } from '../data/useDesk.tsx'

/** Reads how far the first steps are. */
export function useFirstSteps() {
  const { call } = useDesk()
  return useQuery({
    queryKey: ['first steps'],
    queryFn: ({ signal }) => call('desk_first_steps', {}, signal),
    ...polled,
  })
}
