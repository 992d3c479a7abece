import { useQuery } from '@tanstack/react-query'

import { siteRoot } from '../../site-root.ts'
import { useDesk } from '../data/useDesk.tsx'

/** The address of the applicants' page: the operator's, or the one beside the desk until that is known. */
export function usePageAddress(): string {
  const { data } = useQuery(useDesk().places())
  const { site = '' } = data ?? {}
  return site === '' ? siteRoot() : `${site.replace(/\/$/, '')}/`
}
