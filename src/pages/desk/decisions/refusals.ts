import { statuses } from '../../../application/statuses.ts'
import { unconfirmedIn, type Refusal } from '../data/decision-state.ts'
import { momentOf } from '../kit/format.ts'
import { wordsForNotSaved } from '../data/decision-sentences.ts'

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
  const unconfirmed = unconfirmedIn(reason)
  const earlier =
    unconfirmed === null || unconfirmed === wanted ? '' : `“${statuses[unconfirmed]}” was not confirmed, and `
  const problem = `${subject}: ${earlier}“${statuses[wanted]}” was ${wordsForNotSaved(refusal)}.`
  if (reason.kind === 'gone')
    return `${problem} The ${isOne ? 'application was' : 'applications were'} erased meanwhile.`
  if (reason.kind === 'withdrawn') return `${problem} The ${isOne ? 'applicant' : 'applicants'} withdrew.`
  if (reason.kind === 'failed') return `${problem} ${reason.message}`
  const { author, at } = reason
  const them = isOne ? 'it' : 'them'
  if (at === null) return `${problem} ${isOne ? 'It' : 'They'} changed meanwhile: ${status}.`
  return `${problem} ${author} set ${them} to ${status} meanwhile (${momentOf(at)}).`
}
