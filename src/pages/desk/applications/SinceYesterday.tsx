import type { Count } from '../../../client/desk/count.ts'
import type { Overview } from '../../../client/desk/applications.ts'
import { filtersFrom } from '../data/filters.ts'
import { hrefOf } from '../data/route.ts'
import { formatCount } from '../kit/format.ts'

interface SinceYesterdayProps {
  edition: number | undefined
  since: Overview['since_yesterday']
}

/** The numbers of applications and of RSVPs that came since yesterday; nothing if none came. */
export function SinceYesterday({ edition, since: { day, new: received, replied } }: SinceYesterdayProps) {
  const filters = { ...filtersFrom(''), edition, status: 'all' as const, from: day }
  const parts = [
    isAny(received) && (
      <a key="new" className="list-link" href={hrefOf({ screen: 'list', filters })}>
        {formatCount(received)} new
      </a>
    ),
    isAny(replied) && <span key="replied">{formatCount(replied)} replied</span>,
  ].filter((part) => part !== false)
  if (parts.length === 0) return null
  return (
    <p className="list-since">
      <span>Since yesterday: </span>
      {parts[0]}
      {parts[1] && <>, {parts[1]}</>}
    </p>
  )
}

const isAny = ({ count }: Count) => count > 0
