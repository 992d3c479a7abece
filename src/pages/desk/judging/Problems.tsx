import { statuses } from '../../../application/statuses.ts'
import { momentOf } from '../dates.ts'
import { focusApplication } from '../focus.ts'
import { decisions } from './DecisionBar.tsx'
import type { Problem } from './judge.ts'
import { useJudge } from './JudgeProvider.tsx'

/** The decisions that were not kept, and what can be done about each. */
export function Problems() {
  const { judge, judgement } = useJudge()
  return (
    <div role="alert" className="problems">
      {judgement.problems.map((problem) => {
        const { seen, wanted, reason } = problem
        const settle = (act: () => void) => {
          act()
          // The button that was pressed goes.
          focusApplication(seen.id)
        }
        const label = decisions.find(({ status }) => status === wanted)?.label ?? ''
        return (
          <section key={seen.id} className="notice error">
            <p>{said(problem)}</p>
            <p className="row">
              {reason.kind !== 'gone' && (
                <button className="quiet" onClick={() => settle(() => judge.insist(problem))}>
                  {reason.kind === 'failed' ? 'Try again' : `${label} anyway`}
                </button>
              )}
              <button className="quiet" onClick={() => settle(() => judge.dismiss(seen.id))}>
                {stands(reason) ? `Leave it ${statuses[seen.status]}` : 'Close'}
              </button>
            </p>
          </section>
        )
      })}
    </div>
  )
}

/** Whether it is known how the application stands, which may be left so. */
function stands({ kind }: Problem['reason']) {
  return kind === 'stale' || kind === 'told'
}

function said({ seen, wanted, reason }: Problem) {
  if (reason.kind === 'told') {
    return `${seen.name}: a letter that says “${statuses[seen.status]}” has left. That was not taken back.`
  }
  const notSaved = `${seen.name}: “${statuses[wanted]}” was not saved.`
  if (reason.kind === 'gone') return `${notSaved} The application was erased meanwhile.`
  if (reason.kind === 'failed') return `${notSaved} ${reason.message}`
  const { author, at } = reason
  if (author === null || at === null) return `${notSaved} It changed meanwhile: ${statuses[seen.status]}.`
  return `${notSaved} ${author} set it to ${statuses[seen.status]} meanwhile (${momentOf(at)}).`
}
