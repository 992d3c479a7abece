import { stepSize } from '../../../application/limits.ts'
import { statuses, type Status } from '../../../application/statuses.ts'
import { isAsWanted, type Act, type Decision, type Progress, type Refusal } from '../kit/decision-state.ts'
import { momentOf, ofAll } from '../kit/format.ts'

/** What became of an act, as the live region says it. */
export function outcomeOf(act: Act): string {
  const decisions = [...act.values()]
  const done = decisions.filter(isDone)
  const stopped = decisions.filter(({ state }) => state === 'stopped').length
  const lost = decisions.filter((decision) => decision.state === 'refused' && !isDone(decision))
  const said: string[] = []
  if (done.length > 0) said.push(outcomeOfDone(done))
  const [one] = lost
  if (one?.state === 'refused')
    said.push(`${decisions.length > 1 ? lost.length : `${one.seen.name}:`} ${notSaved(one.refusal)}`)
  if (stopped > 0) said.push(`stopped, ${stopped} left as they were`)
  return said.join('; ')
}

function outcomeOfDone(done: readonly Decision[]) {
  const [{ seen, state, takesBack } = {}] = done
  const isOne = done.length === 1
  const whom = isOne ? seen?.name : `${done.length} applications`
  const wanted = new Set(done.map((decision) => statuses[decision.wanted]))
  const [status] = wanted.size === 1 ? wanted : []
  if (takesBack && state === 'saved') {
    return `Undone: ${whom} ${isOne ? 'is' : 'are'} ${status ? `${status} again` : 'as they were before'}`
  }
  return `${whom}: ${status ?? 'as they were before'}${isOne && state !== 'saved' ? ' already' : formerOf(done)}`
}

/** In words. Where no response came, it may be saved all the same. */
function notSaved({ reason }: Refusal) {
  return reason.kind === 'failed' && reason.isUncertain ? 'not confirmed' : 'not saved'
}

/** Whether the application is as it was wanted, by this decision or somebody else's. */
function isDone(decision: Decision) {
  return decision.state === 'saved' || (decision.state === 'refused' && isAsWanted(decision.refusal))
}

/** The former statuses of applications that were decided together, if they differed: ` (before: 26 New, 9 Waitlisted)`. */
function formerOf(decisions: readonly Decision[]) {
  const counts = countsOf(decisions.map(({ seen }) => seen.status))
  return counts.length < 2 || decisions.some(({ takesBack }) => takesBack)
    ? ''
    : ` (before: ${counts.join(', ')})`
}

/** How many there are of each status, the most first, such as `26 New`. */
export function countsOf(all: readonly Status[]): string[] {
  return [...new Set(all)]
    .map((status) => ({ status, count: all.filter((each) => each === status).length }))
    .toSorted((one, other) => other.count - one.count)
    .map(({ status, count }) => `${count} ${statuses[status]}`)
}

/** What Undo undoes, in lower case: `declined`. */
export function undoneWord(status: Status): string {
  return status === 'new' ? 'back to new' : statuses[status].toLowerCase()
}

/** `300 of 1,000 saved`. It changes only with each quarter, so that a screen reader does not read out every step. */
export function progressOf(progress: Progress): string {
  const quarters = Math.floor((progress.done * 4) / progress.count)
  if (quarters === 0) return ''
  const steps = Math.ceil((quarters * progress.count) / 4 / stepSize)
  return `${ofAll(steps * stepSize, progress.count)} saved`
}

/** Groups decisions that wanted the same status and were refused for the same reason. */
export function alike(refusals: Iterable<Refusal>): [Refusal, ...Refusal[]][] {
  const groups = new Map<string, [Refusal, ...Refusal[]]>()
  for (const refusal of refusals) {
    const { seen, wanted, reason } = refusal
    const key = JSON.stringify([wanted, reason, isKnown(reason) && seen.status])
    const group = groups.get(key)
    if (group) group.push(refusal)
    else groups.set(key, [refusal])
  }
  return [...groups.values()]
}

/** Whether the application's present status is known, so that it can be left as it is. */
export function isKnown({ kind }: Refusal['reason']): boolean {
  return kind === 'stale' || kind === 'told'
}

/**
 * Why a decision was refused.
 *
 * @param others For how many other applications the sentence is true, too.
 */
export function refusalOf(refusal: Refusal, others: number): string {
  const { seen, wanted, reason } = refusal
  const isOne = others === 0
  const whom = isOne ? seen.name : `${seen.name} and ${others} ${others === 1 ? 'other' : 'others'}`
  const status = statuses[seen.status]
  if (reason.kind === 'told') {
    const letters = isOne ? `a letter saying “${status}” has` : `letters saying “${status}” have`
    return `Not undone for ${whom}: ${letters} already been sent.`
  }
  const problem = `${whom}: “${statuses[wanted]}” was ${notSaved(refusal)}.`
  if (reason.kind === 'gone')
    return `${problem} The ${isOne ? 'application was' : 'applications were'} erased meanwhile.`
  if (reason.kind === 'failed') return `${problem} ${reason.message}`
  const { author, at } = reason
  const them = isOne ? 'it' : 'them'
  if (author === null || at === null)
    return `${problem} ${isOne ? 'It' : 'They'} changed meanwhile: ${status}.`
  return `${problem} ${author} set ${them} to ${status} meanwhile (${momentOf(at)}).`
}
