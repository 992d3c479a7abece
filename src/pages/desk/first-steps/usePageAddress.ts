import { siteRoot } from '../../site-root.ts'
import { usePlaces } from '../data/usePlaces.ts'

/** The address of the applicants' page: the operator's, or the one beside the desk until that is known. */
export function usePageAddress(): string {
  const { data } = usePlaces()
  const { site = '' } = data ?? {}
  return site === '' ? siteRoot() : `${site.replace(/\/$/, '')}/`
}
