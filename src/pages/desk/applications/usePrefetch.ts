import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

import { afterFrame } from './after-frame.ts'
import { filterOf, type Filters } from '../data/filters.ts'
import { useApplicationQueries } from './application-queries.ts'

/** Prefetches an application, so that moving to it is instant on a slow connection too. */
export function usePrefetch(id: string | undefined, filters: Filters) {
  const queries = useQueryClient()
  const { application } = useApplicationQueries()
  useEffect(() => {
    if (id === undefined) return
    return afterFrame(
      () => void queries.prefetchQuery({ ...application(id, filterOf(filters)), staleTime: Infinity }),
    )
  }, [queries, application, id, filters])
}
