import { useQuery } from '@tanstack/react-query'

import { draftCountOf } from '../data/draft-count.ts'
import { hrefOf, type Route } from '../data/route.ts'
import { useDesk } from '../data/useDesk.tsx'
import { formatNumber } from '../kit/format.ts'

/** The notice after the last application of a list was decided or marked, with the next step. */
export function ListEnd({ list }: { list: Route }) {
  const { data: drafts = 0 } = useQuery({ ...useDesk().letters(), enabled: false, select: draftCountOf })
  return (
    <p className="layout-notice" aria-live="polite">
      This was the last one of this list.{' '}
      {drafts > 0 ? (
        <a href={hrefOf({ screen: 'letters' })}>
          {drafts === 1 ? '1 letter waits: read it' : `${formatNumber(drafts)} letters wait: read them`}
        </a>
      ) : (
        <a href={hrefOf(list)}>Back to the list</a>
      )}
    </p>
  )
}
