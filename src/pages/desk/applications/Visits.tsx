import { useQuery } from '@tanstack/react-query'

import type { PageVisits, VisitedDay } from '../../../client/desk/retreat.ts'
import { countOf } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { BarsPlot, DaysPlot } from './Plot.tsx'

/** Milliseconds between two reads. */
const interval = 60_000

/** Visits to the page, whatever the list shows. Its query is here, so that the first list does not load it. */
export function Visits() {
  const { call } = useDesk()
  const { data, error, refetch } = useQuery({
    queryKey: ['visits'],
    queryFn: ({ signal }) => call('desk_visits', {}, signal),
    refetchInterval: interval,
  })
  return (
    <section aria-label="Visits">
      {data ? (
        <Counts {...data} />
      ) : (
        <Problem error={error} message="Visits were not loaded." onTryAgain={() => void refetch()} />
      )}
    </section>
  )
}

function Counts({ is_counted, days, sources }: PageVisits) {
  if (!is_counted)
    return <p className="layout-quiet">Visits are counted only by a server that serves this page.</p>
  const shown = fromFirst(days)
  const total = (counted: 'visits' | 'starts' | 'applications') =>
    days.reduce((sum, day) => sum + day[counted], 0)
  return (
    <>
      <p className="layout-quiet">
        The page in the last 90 days:{' '}
        {[
          countOf(total('visits'), 'visit'),
          countOf(total('starts'), 'start'),
          countOf(total('applications'), 'application'),
        ].join(', ')}
        .
      </p>
      <div className="plots-figures">
        <DaysPlot
          caption="Visits, starts and applications a day"
          things={['Visits', 'Starts', 'Applications']}
          days={shown.map(({ day, visits, starts, applications }) => ({
            day,
            counts: [visits, starts, applications],
          }))}
        />
        {sources.length > 0 && (
          <BarsPlot
            caption={sources.length < 20 ? 'Visits by source' : 'Visits by source, the first 20'}
            heads={['Source', 'Visits']}
            rows={sources.map(({ source, visits }) => ({ name: nameOf(source), count: visits }))}
          />
        )}
      </div>
    </>
  )
}

/** Names as they are written in the page's address are lower case, so these are no names. */
function nameOf(source: string) {
  if (source === '') return 'No source'
  return source === 'other' ? 'Other' : source
}

/** The days from the first on which anything happened. */
export function fromFirst(days: readonly VisitedDay[]): readonly VisitedDay[] {
  const first = days.findIndex(({ visits, starts, applications }) => visits + starts + applications > 0)
  return first < 0 ? [] : days.slice(first)
}
