import { statuses } from '../../../application/statuses.ts'
import { focusApplication } from '../kit/focus.ts'
import { momentOf } from '../kit/format.ts'
import { useJudge } from '../kit/useDesk.tsx'
import type { Problem } from './judge.ts'
import { decisions } from './DecisionBar.tsx'

/** The decisions that were not kept, with buttons to repeat or leave them. Decisions that failed alike are shown together. */
export function DecisionProblems() {
  const { judge, judgement } = useJudge()
  return (
    <div role="alert" className="problems">
      {alike(judgement.problems).map(([first, ...others]) => {
        const { seen, wanted, reason } = first
        const problems = [first, ...others]
        const choose = (act: () => void) => {
          act()
          // The pressed button disappears.
          focusApplication(seen.id)
        }
        const label = decisions.find(({ status }) => status === wanted)?.label ?? ''
        return (
          <section key={seen.id} className="notice error">
            <p>{said(first, others.length)}</p>
            <p className="row">
              {reason.kind !== 'gone' && (
                <button className="quiet" onClick={() => choose(() => judge.insist(problems))}>
                  {reason.kind === 'failed' ? 'Try again' : `${label} anyway`}
                </button>
              )}
              <button className="quiet" onClick={() => choose(() => judge.dismiss(problems))}>
                {stands(reason)
                  ? `Leave ${others.length === 0 ? 'it' : 'them'} ${statuses[seen.status]}`
                  : 'Close'}
              </button>
            </p>
          </section>
        )
      })}
    </div>
  )
}

/** Groups decisions that wanted the same status and were not kept for the same reason. */
function alike(problems: readonly Problem[]) {
  const groups = new Map<string, [Problem, ...Problem[]]>()
  for (const problem of problems) {
    const { seen, wanted, reason } = problem
    const key = JSON.stringify([wanted, reason, stands(reason) && seen.status])
    const group = groups.get(key)
    if (group) group.push(problem)
    else groups.set(key, [problem])
  }
  return [...groups.values()]
}

/** Whether the application's status is known, so that it can be left as it is. */
function stands({ kind }: Problem['reason']) {
  return kind === 'stale' || kind === 'told'
}

/** @param others For how many other applications the sentence is true, too. */
function said({ seen, wanted, reason }: Problem, others: number) {
  const isOne = others === 0
  const whom = isOne ? seen.name : `${seen.name} and ${others} ${others === 1 ? 'other' : 'others'}`
  const status = statuses[seen.status]
  if (reason.kind === 'told') {
    const told = isOne ? `a letter that says “${status}” has` : `letters that say “${status}” have`
    return `${whom}: ${told} left. That was not taken back.`
  }
  const notSaved = `${whom}: “${statuses[wanted]}” was not saved.`
  if (reason.kind === 'gone')
    return `${notSaved} The ${isOne ? 'application was' : 'applications were'} erased meanwhile.`
  if (reason.kind === 'failed') return `${notSaved} ${reason.message}`
  const { author, at } = reason
  const them = isOne ? 'it' : 'them'
  if (author === null || at === null)
    return `${notSaved} ${isOne ? 'It' : 'They'} changed meanwhile: ${status}.`
  return `${notSaved} ${author} set ${them} to ${status} meanwhile (${momentOf(at)}).`
}
