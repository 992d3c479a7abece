import { stepSize } from '../../../application/limits.ts'
import { statuses, type Status } from '../../../application/statuses.ts'
import {
  hasWantedStatus,
  type DecisionAct,
  type Decision,
  type Progress,
  type Refusal,
} from '../kit/decision-state.ts'
import { momentOf, outOf } from '../kit/format.ts'

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
  return `${subject}: ${status ?? 'as they were before'}${isOne && state !== 'saved' ? ' already' : formerOf(done)}`
}

/** The words for a decision that was not saved, or for one without a response, which may have been saved. */
function wordsForNotSaved({ reason }: Refusal) {
  return reason.kind === 'failed' && reason.isUncertain ? 'not confirmed' : 'not saved'
}

/** Whether the application has the wanted status, by this decision or somebody else's. */
function isDone(decision: Decision) {
  return decision.state === 'saved' || (decision.state === 'refused' && hasWantedStatus(decision.refusal))
}

/** The former statuses, if they differed: ` (before: 26 New, 9 Waitlisted)`. */
function formerOf(decisions: readonly Decision[]) {
  const counts = countsOf(decisions.map(({ application }) => application.status))
  return counts.length < 2 || decisions.some(({ isUndo }) => isUndo) ? '' : ` (before: ${counts.join(', ')})`
}

/** The number of each status, such as `26 New`, the most frequent first. */
export function countsOf(all: readonly Status[]): string[] {
  return [...new Set(all)]
    .map((status) => ({ status, count: all.filter((each) => each === status).length }))
    .toSorted((one, other) => other.count - one.count)
    .map(({ status, count }) => `${count} ${statuses[status]}`)
}

/** The words for an undone status, in lower case: `declined`. */
export function undoneWord(status: Status): string {
  return status === 'new' ? 'back to new' : statuses[status].toLowerCase()
}

/** The progress in words: `300 of 1,000 saved`. It changes at each quarter, so that screen readers do not read every step. */
export function progressOf(progress: Progress): string {
  const quarters = Math.floor((progress.done * 4) / progress.count)
  if (quarters === 0) return ''
  const steps = Math.ceil((quarters * progress.count) / 4 / stepSize)
  return `${outOf(steps * stepSize, progress.count)} saved`
}

/** Groups refusals that have the same wanted status, reason and, if known, current status. */
export function groupAlike(refusals: Iterable<Refusal>): [Refusal, ...Refusal[]][] {
  const groups = new Map<string, [Refusal, ...Refusal[]]>()
  for (const refusal of refusals) {
    const { application, wanted, reason } = refusal
    const key = JSON.stringify([wanted, reason, isStatusKnown(reason) && application.status])
    const group = groups.get(key)
    if (group) group.push(refusal)
    else groups.set(key, [refusal])
  }
  return [...groups.values()]
}

/** Whether the refusal came with the current status, so that the organiser can choose to leave the application at it. */
export function isStatusKnown({ kind }: Refusal['reason']): boolean {
  return kind === 'stale' || kind === 'told'
}

/**
 * The reason why a decision was refused, in sentences.
 *
 * @param others Number of other applications with the same refusal.
 */
export function sentenceOfRefusal(refusal: Refusal, others: number): string {
  const { application, wanted, reason } = refusal
  const isOne = others === 0
  const subject = isOne
    ? application.name
    : `${application.name} and ${others} ${others === 1 ? 'other' : 'others'}`
  const status = statuses[application.status]
  if (reason.kind === 'told') {
    const letters = isOne ? `a letter saying “${status}” has` : `letters saying “${status}” have`
    return `Not undone for ${subject}: ${letters} already been sent.`
  }
  const problem = `${subject}: “${statuses[wanted]}” was ${wordsForNotSaved(refusal)}.`
  if (reason.kind === 'gone')
    return `${problem} The ${isOne ? 'application was' : 'applications were'} erased meanwhile.`
  if (reason.kind === 'failed') return `${problem} ${reason.message}`
  const { author, at } = reason
  const them = isOne ? 'it' : 'them'
  if (author === null || at === null)
    return `${problem} ${isOne ? 'It' : 'They'} changed meanwhile: ${status}.`
  return `${problem} ${author} set ${them} to ${status} meanwhile (${momentOf(at)}).`
}
