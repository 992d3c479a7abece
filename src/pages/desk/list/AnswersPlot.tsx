import { Fragment } from 'react'

import { NumbersTable } from './NumbersTable.tsx'

interface AnswersPlotProps {
  caption: string
  /** What the answers are. */
  of: string
  /** The answers' words, in their order. */
  words: Readonly<Record<string, string>>
  counts: Readonly<Partial<Record<string, number>>>
}

/** A bar for each answer to a choice, and one for who did not answer. */
export function AnswersPlot({ caption, of, words, counts }: AnswersPlotProps) {
  const rows = [...Object.entries(words), ['', 'No answer'] as const].map(([answer, name]) => ({
    name,
    count: counts[answer] ?? 0,
  }))
  const most = Math.max(...rows.map(({ count }) => count))
  return (
    <figure>
      <figcaption>{caption}</figcaption>
      <div className="bars" aria-hidden="true">
        {rows.map(({ name, count }) => (
          <Fragment key={name}>
            <span>{name}</span>
            <svg viewBox={`0 0 ${most} 1`} preserveAspectRatio="none">
              <rect width={count} height={1} />
            </svg>
            <span className="number">{count.toLocaleString('en')}</span>
          </Fragment>
        ))}
      </div>
      <NumbersTable {...{ caption, of, rows }} />
    </figure>
  )
}
