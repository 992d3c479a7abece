import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

import { afterFrame } from '../kit/after-frame.ts'
import { filterOf, type Filters } from '../data/filters.ts'
import { useDesk } from '../data/useDesk.tsx'

/** Prefetches an application, so that moving to it is instant on a slow connection too. */
export function usePrefetch(id: string | undefined, filters: Filters) {
  const queries = useQueryClient()
  const desk = useDesk()
  useEffect(() => {
    if (id === undefined) return
    return afterFrame(
      () => void queries.prefetchQuery({ ...desk.application(id, filterOf(filters)), staleTime: Infinity }),
    )
  }, [queries, desk, id, filters])
}
