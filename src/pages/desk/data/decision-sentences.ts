import { statuses, type Status } from '../../../application/statuses.ts'
import { countOf } from '../kit/format.ts'
import { hasWantedStatus, type DecisionAct, type Decision, type Refusal } from './decision-state.ts'

/** The outcome of an act, for the live region. */
export function outcomeOf(act: DecisionAct): string {
  const decisions = [...act.values()]
  const done = decisions.filter(isDone)
  const stopped = decisions.filter(({ state }) => state === 'stopped').length
  const refusals = decisions.flatMap((each) =>
    each.state === 'refused' && !hasWantedStatus(each.refusal) ? each.refusal : [],
  )
  const parts: string[] = []
  if (done.length > 0) parts.push(outcomeOfDone(done))
  const letters = decisions.reduce((sum, each) => sum + (each.state === 'saved' ? each.stopped : 0), 0)
  if (letters > 0) parts.push(`${countOf(letters, 'letter')} stopped`)
  const [one] = refusals
  if (one)
    parts.push(
      `${decisions.length > 1 ? refusals.length : `${one.application.name}:`} ${wordsForNotSaved(one)}`,
    )
  if (stopped > 0) parts.push(`stopped, ${stopped} not changed`)
  return parts.join('; ')
}

function outcomeOfDone(done: readonly Decision[]) {
  const [{ application, state, isUndo } = {}] = done
  const isOne = done.length === 1
  const subject = isOne ? application?.name : `${done.length} applications`
  const wanted = new Set(done.map((decision) => statuses[decision.wanted]))
  const [status] = wanted.size === 1 ? wanted : []
  if (isUndo && state === 'saved') {
    return `Undone: ${subject} ${isOne ? 'is' : 'are'} ${status ? `${status} again` : 'as they were before'}`
  }
  return `${subject}: ${status ?? 'as they were before'}${isOne && state !== 'saved' ? ' already' : isUndo ? '' : formerOf(done)}`
}

/** The words for a decision that was not saved: it was not sent, or it may have been saved if no response came. */
export function wordsForNotSaved({ wanted, reason }: Refusal): string {
  if (reason.kind !== 'failed' || !reason.isUncertain) return 'not saved'
  return reason.sent === wanted ? 'not confirmed' : 'not sent'
}

/** Whether the application has the wanted status, by this decision or somebody else's. */
function isDone(decision: Decision) {
  return decision.state === 'saved' || (decision.state === 'refused' && hasWantedStatus(decision.refusal))
}

/** The former statuses, if they differed: ` (before: 26 New, 9 Waitlisted)`. */
function formerOf(decisions: readonly Decision[]) {
  const counts = countsOf(decisions.map(({ application }) => application.status))
  return counts.length < 2 ? '' : ` (before: ${counts.join(', ')})`
}

/** The number of each status, such as `26 New`, the most frequent first. */
export function countsOf(all: readonly Status[]): string[] {
  return [...new Set(all)]
    .map((status) => ({ status, count: all.filter((each) => each === status).length }))
    .toSorted((one, other) => other.count - one.count)
    .map(({ status, count }) => `${count} ${statuses[status]}`)
}
