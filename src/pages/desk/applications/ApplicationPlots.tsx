import { Fragment, type ReactNode } from 'react'

import { paidSolutions, teamSizes } from '../../../application/application.ts'
import type { Overview } from '../../../client/desk/applications.ts'
import { formatNumber, chartDayOf } from '../kit/format.ts'

/** Counts of the list's applications, as charts and as tables for screen readers. */
export function ApplicationPlots({ overview }: { overview: Overview }) {
  const { count, more, days, team_size, paid_solution } = overview
  if (count === 0) return null
  return (
    <>
      {more && (
        <p className="layout-quiet">
          {count === 1 ? 'The newest one' : `The newest ${formatNumber(count)}`}; older ones are not counted
          here.
        </p>
      )}
      <div className="plots-figures">
        <DaysPlot days={daysOf(days)} />
        <ChoicesPlot caption="Team size" header="Team size" words={teamSizes} counts={team_size} />
        <ChoicesPlot caption="Paid solution" header="Answer" words={paidSolutions} counts={paid_solution} />
      </div>
    </>
  )
}

interface PlotProps {
  caption: string
  /** The head of the name column. */
  header: string
  rows: readonly { name: string; count: number }[]
  /** The chart. */
  children: ReactNode
}

/** A chart, and a table of its numbers for screen readers. */
function Plot({ caption, header, rows, children }: PlotProps) {
  return (
    <figure>
      <figcaption>{caption}</figcaption>
      {children}
      <div className="visually-hidden">
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{header}</th>
              <th scope="col">Applications</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, count }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{formatNumber(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

interface ChoicesPlotProps extends Pick<PlotProps, 'caption' | 'header'> {
  /** The words of the choices, in order. */
  words: Readonly<Record<string, string>>
  counts: Readonly<Partial<Record<string, number>>>
}

/** A bar for each choice, and one for blank answers. */
function ChoicesPlot({ caption, header, words, counts }: ChoicesPlotProps) {
  const options = [...Object.entries(words), ['', 'No answer'] as const]
  const rows = options.map(([value, name]) => ({ name, count: counts[value] ?? 0 }))
  const max = Math.max(...rows.map(({ count }) => count))
  return (
    <Plot {...{ caption, header, rows }}>
      <div className="plots-bars" aria-hidden="true">
        {rows.map(({ name, count }) => (
          <Fragment key={name}>
            <span>{name}</span>
            <svg viewBox={`0 0 ${max} 1`} preserveAspectRatio="none">
              <rect width={count} height={1} />
            </svg>
            <span className="plots-number">{formatNumber(count)}</span>
          </Fragment>
        ))}
      </div>
    </Plot>
  )
}

/** Minimum width of the chart in days: with fewer days, the bars would be too wide. */
const minDays = 14

/** A bar for each day. */
function DaysPlot({ days }: { days: readonly Day[] }) {
  const rows = days.map(({ day, count }) => ({ name: chartDayOf(day), count }))
  const max = Math.max(...rows.map(({ count }) => count))
  const [first, last] = [rows.at(0), rows.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <Plot caption="Applications a day" header="Day" rows={rows}>
      <div aria-hidden="true">
        <p className="plots-scale">{formatNumber(max)}</p>
        <svg
          className="plots-days"
          viewBox={`0 0 ${Math.max(rows.length, minDays)} ${max}`}
          preserveAspectRatio="none"
        >
          {rows.map(({ name, count }, index) => (
            <rect key={name} x={index + 0.1} y={max - count} width={0.8} height={count}>
              <title>{`${name}: ${formatNumber(count)}`}</title>
            </rect>
          ))}
        </svg>
        <p className="plots-scale">
          <span>{first.name}</span>
          {last !== first && <span>{last.name}</span>}
        </p>
      </div>
    </Plot>
  )
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
