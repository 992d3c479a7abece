import { paidSolutions, teamSizes } from '../../../application/application.ts'
import type { Overview } from '../../../client/desk.ts'
import { DaysPlot } from './DaysPlot.tsx'
import { daysOf } from './days.ts'
import { AnswersPlot } from './AnswersPlot.tsx'

/** How the applications of the list are made up, as small plots and as tables of the same numbers. */
export function Plots({ overview: { count, more, days, team_size, paid_solution } }: { overview: Overview }) {
  if (count === 0) return null
  return (
    <>
      {more && (
        <p className="quietly">
          {count === 1 ? 'The newest one' : `The newest ${count.toLocaleString('en')}`}; older ones are not
          counted here.
        </p>
      )}
      <div className="figures">
        <DaysPlot days={daysOf(days)} />
        <AnswersPlot caption="Team size" of="Team size" words={teamSizes} counts={team_size} />
        <AnswersPlot caption="Paid solution" of="Answer" words={paidSolutions} counts={paid_solution} />
      </div>
    </>
  )
}
