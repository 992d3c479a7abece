import { Fragment, type ReactNode } from 'react'

import { formatNumber, chartDayOf } from '../kit/format.ts'

/** A name and its numbers. */
interface Row {
  name: string
  counts: readonly number[]
}

interface PlotProps {
  caption: string
  /** The heads of the table's columns: of the names, and of each number. */
  heads: readonly [string, ...string[]]
  rows: readonly Row[]
  /** The chart. */
  children: ReactNode
}

/** A chart, and a table of its numbers for screen readers. */
function Plot({ caption, heads, rows, children }: PlotProps) {
  return (
    <figure>
      <figcaption>{caption}</figcaption>
      {children}
      <div className="visually-hidden">
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, counts }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {counts.map((count, index) => (
                  <td key={heads[index + 1]}>{formatNumber(count)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

interface BarsPlotProps {
  caption: string
  /** The heads of the table's two columns: of the names, and of the number. */
  heads: readonly [string, string]
  rows: readonly { name: string; count: number }[]
}

/** A bar for each name. */
export function BarsPlot({ caption, heads, rows }: BarsPlotProps) {
  const max = Math.max(...rows.map(({ count }) => count))
  return (
    <Plot {...{ caption, heads }} rows={rows.map(({ name, count }) => ({ name, counts: [count] }))}>
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

/** Minimum width in days: with fewer, the bars would be too wide. */
const minDays = 14

interface DaysPlotProps {
  caption: string
  /** The counted things, one or several. */
  things: readonly string[]
  /** The number of each thing on each day, such as `2026-12-31`. */
  days: readonly { day: string; counts: readonly number[] }[]
}

/** A chart of each thing, with a bar for each day. */
export function DaysPlot({ caption, things, days }: DaysPlotProps) {
  const rows = days.map(({ day, counts }) => ({ name: chartDayOf(day), counts }))
  const [first, last] = [rows.at(0), rows.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <Plot {...{ caption, rows }} heads={['Day', ...things]}>
      <div aria-hidden="true">
        {things.map((thing, index) => (
          <DayBars
            key={thing}
            label={things.length > 1 ? thing : null}
            rows={rows.map(({ name, counts }) => ({ name, count: counts[index] ?? 0 }))}
          />
        ))}
        <p className="plots-scale">
          <span>{first.name}</span>
          {last !== first && <span>{last.name}</span>}
        </p>
      </div>
    </Plot>
  )
}

interface DayBarsProps {
  /** The text above the bars, which names what is counted; null if the caption names it. */
  label: string | null
  rows: readonly { name: string; count: number }[]
}

function DayBars({ label, rows }: DayBarsProps) {
  const max = Math.max(...rows.map(({ count }) => count))
  return (
    <>
      <p className="plots-scale">
        {label !== null && <span>{label}</span>}
        <span>{formatNumber(max)}</span>
      </p>
      <svg
        className="plots-days"
        // With a height of 0, nothing would be drawn, not even the border.
        viewBox={`0 0 ${Math.max(rows.length, minDays)} ${max || 1}`}
        preserveAspectRatio="none"
      >
        {rows.map(({ name, count }, index) => (
          <rect key={name} x={index + 0.1} y={max - count} width={0.8} height={count}>
            <title>{`${name}: ${formatNumber(count)}`}</title>
          </rect>
        ))}
      </svg>
    </>
  )
}
