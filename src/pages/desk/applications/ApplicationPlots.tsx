import { paidSolutions, teamSizes } from '../../../application/application.ts'
import type { Overview } from '../../../client/desk/applications.ts'
import { useDesk } from '../data/useDesk.tsx'
import { formatNumber } from '../kit/format.ts'
import { BarsPlot, DaysPlot } from './Plot.tsx'
import { Visits } from './Visits.tsx'

/** Charts: counts of the list's applications, and visits to the page. */
export function ApplicationPlots({ overview }: { overview: Overview }) {
  const { count, more, days, team_size, paid_solution } = overview
  const { isReader } = useDesk()
  return (
    <>
      {more && (
        <p className="layout-quiet">
          {count === 1 ? 'The newest one' : `The newest ${formatNumber(count)}`}; older ones are not counted
          here.
        </p>
      )}
      {count > 0 && (
        <div className="plots-figures">
          <DaysPlot
            caption="Applications a day"
            things={['Applications']}
            days={daysOf(days).map((each) => ({ day: each.day, counts: [each.count] }))}
          />
          <ChoicesPlot caption="Team size" header="Team size" words={teamSizes} counts={team_size} />
          <ChoicesPlot
            caption="Paid for a solution"
            header="Answer"
            words={paidSolutions}
            counts={paid_solution}
          />
        </div>
      )}
      {!isReader && <Visits />}
    </>
  )
}

interface ChoicesPlotProps {
  caption: string
  /** The head of the name column. */
  header: string
  /** The words of the choices, in order. */
  words: Readonly<Record<string, string>>
  counts: Readonly<Partial<Record<string, number>>>
}

/** A bar for each choice, and one for blank answers. */
function ChoicesPlot({ caption, header, words, counts }: ChoicesPlotProps) {
  const options = [...Object.entries(words), ['', 'No answer'] as const]
  const rows = options.map(([value, name]) => ({ name, count: counts[value] ?? 0 }))
  return <BarsPlot {...{ caption, rows }} heads={[header, 'Applications']} />
}

/** The number of applications on a day, such as `2026-12-31`. */
interface Day {
  day: string
  count: number
}

const maxDays = 30

/**
 * The days from the first to the last with applications, including days without any; at most the last thirty.
 *
 * @param counts The number of applications by day, in any order.
 */
export function daysOf(counts: Readonly<Record<string, number>>): Day[] {
  const known = Object.keys(counts).toSorted()
  const [first, last] = [known.at(0), known.at(-1)]
  if (first === undefined || last === undefined) return []
  const days: Day[] = []
  for (let day = last; day >= first && days.length < maxDays; day = dayBefore(day))
    days.unshift({ day, count: counts[day] ?? 0 })
  return days
}

/** In UTC every day has 24 hours. */
function dayBefore(day: string) {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
}
