import { useQuery } from '@tanstack/react-query'

import type { PageVisits, VisitedDay } from '../../../client/desk/retreat.ts'
import { countOf } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { BarsPlot, DaysPlot } from './Plot.tsx'

/** Milliseconds between two reads. */
const interval = 60_000

/** Charts of the visits to the form's page. The list's filters do not change them. */
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
        <VisitCharts {...data} />
      ) : (
        <Problem error={error} message="Visits were not loaded." onTryAgain={() => void refetch()} />
      )}
    </section>
  )
}

function VisitCharts({ is_counted, days, sources }: PageVisits) {
  if (!is_counted)
    return (
      <p className="layout-quiet">
        No visits were counted. Only a server that serves the page counts them, and leaves out robots.
      </p>
    )
  const shown = daysFromFirstCount(days)
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
            rows={sources.map(({ source, visits }) => ({ name: sourceWords(source), count: visits }))}
          />
        )}
      </div>
    </>
  )
}

/** A source in words. The names of sources are lower case, so they differ from these words. */
function sourceWords(source: string) {
  if (source === '') return 'No source'
  return source === 'other' ? 'Other' : source
}

/** The days from the first with a visit, a start or an application. */
export function daysFromFirstCount(days: readonly VisitedDay[]): readonly VisitedDay[] {
  const first = days.findIndex(({ visits, starts, applications }) => visits + starts + applications > 0)
  return first < 0 ? [] : days.slice(first)
}
