import { useQuery } from '@tanstack/react-query'

import type { Reading } from '../../../client/desk/marks.ts'
import { dropReadData } from './acts.ts'
import { useDesk } from './useDesk.tsx'

/** How the organiser reads: blind or not, and whether they only read. */
export function useReading() {
  const desk = useDesk()
  return useQuery({
    queryKey: ['reading'],
    async queryFn({ client, queryKey, signal }) {
      const former = client.getQueryData<Reading>(queryKey)
      const reading = await desk.call('desk_blind', {}, signal)
      // It was switched in another window, or the response was lost.
      if (former && former.blind !== reading.blind) dropReadData(client, desk, reading.blind)
      return reading
    },
    gcTime: Infinity,
    refetchOnWindowFocus: 'always',
  })
}
