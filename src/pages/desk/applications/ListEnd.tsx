import { useQuery } from '@tanstack/react-query'

import { draftCountOf } from '../data/draft-count.ts'
import { hrefOf, type Route } from '../data/route.ts'
import { useDesk } from '../data/useDesk.tsx'
import { formatNumber } from '../kit/format.ts'

interface ListEndProps {
  list: Route
  /** The number of applications in the list, once all of them are read. */
  read: number | undefined
}

/** The notice after the last application of a list was decided or marked, with the next step. */
export function ListEnd({ list, read }: ListEndProps) {
  const { data: drafts = 0 } = useQuery({ ...useDesk().letters(), enabled: false, select: draftCountOf })
  return (
    <p className="layout-notice" aria-live="polite">
      {read === undefined
        ? 'This was the last one of this list.'
        : read === 1
          ? 'The only one is read.'
          : `All ${formatNumber(read)} are read.`}{' '}
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
