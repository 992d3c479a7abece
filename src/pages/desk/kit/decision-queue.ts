import { stepSize } from '../../../application/limits.ts'
import { statuses, type Status } from '../../../application/statuses.ts'
import { newAct } from '../../../client/act.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { sentenceOf } from './Problem.tsx'
import { insistOnConnection } from './useAct.ts'

/** An application as whoever decides saw it: its name, status and version. */
export interface Seen {
  id: string
  name: string
  status: Status
  /** Counts the decisions on it. */
  version: number
}

/** The status that is shown for an application. */
export interface Shown extends Pick<Seen, 'status' | 'version'> {
  /** Whether the database has not confirmed it yet. */
  isPending: boolean
  /** Whether somebody else set it, or the same organiser in another window. */
  isOthers?: boolean
}

/** A decision that was not kept, and why. */
export interface Unkept {
  seen: Seen
  /** The status that was wanted. */
  wanted: Status
  reason:
    | { kind: 'stale'; author: string | null; at: string | null }
    | { kind: 'gone' }
    /** A letter about the decision that was to be taken back has left. */
    | { kind: 'told' }
    | { kind: 'failed'; message: string }
}

/** One decision on its way. */
interface Entry {
  seen: Seen
  wanted: Status
  /** The decision before it on the same application, if its outcome was not known when this one was made. */
  previous: Entry | undefined
  /** The version that whoever decided saw. */
  from: number
  /** The decision that it takes back. */
  takesBack: Entry | undefined
  /** Whether it was stopped before it was sent. */
  isStopped?: boolean
  /** The version that it made; null where it was not kept. */
  kept?: number | null
  /** Why it was not kept. */
  problem?: Unkept
}

/** A decision to make. `from`: the version that it is based on, where a newer one may be shown. */
type Wish = Pick<Entry, 'seen' | 'wanted'> & { from?: number | undefined; takesBack?: Entry }

/** What the screen shows of all this. */
export interface QueueState {
  shown: ReadonlyMap<string, Shown>
  problems: readonly Unkept[]
  /** The act that Undo takes back, and how many applications it decided; null where there is nothing to undo. */
  lastAct: { count: number; status: Status } | null
  /** The progress of an act that is sent in several calls; null where none is under way. */
  progress: Progress | null
}

/** So many of an act's decisions are sent. */
export interface Progress {
  done: number
  count: number
}

/**
 * Decides: each act is shown at once and sent in its turn. What somebody else changed meanwhile is not overwritten but
 * becomes a problem, which whoever decides may repeat knowingly.
 */
export class DecisionQueue {
  readonly #callDesk: CallDesk
  readonly #onOutcome: (sentence: string) => void
  readonly #listeners = new Set<() => void>()
  #state: QueueState = { shown: new Map(), problems: [], lastAct: null, progress: null }
  /** The decisions that Undo takes back. */
  #lastAct: Entry[] = []
  /** The newest decision on each application whose outcome is not known. */
  readonly #pending = new Map<string, Entry>()
  #queue: Promise<void> = Promise.resolve()
  readonly #ending = new AbortController()
  #isStopping = false

  /** @param onOutcome Called with what became of each act, in a sentence. */
  constructor(callDesk: CallDesk, onOutcome: (sentence: string) => void) {
    this.#callDesk = callDesk
    this.#onOutcome = onOutcome
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly state = (): QueueState => this.#state

  /** Whether there are decisions of which nobody knows yet whether they are kept. */
  isWaiting(): boolean {
    return this.#pending.size > 0
  }

  /** Stops an act that is sent in several calls: what has not been sent yet is not sent. */
  readonly stop = (): void => {
    this.#isStopping = true
  }

  /** Sends nothing any more, not even waiting decisions, because whoever decided has left. */
  end(): void {
    this.#ending.abort()
  }

  /** The status to show for an application, given what the database said of it. */
  shownOf({ id, status, version }: Omit<Seen, 'name'>): Shown {
    const shown = this.#state.shown.get(id)
    return shown && (shown.isPending || shown.version >= version)
      ? shown
      : { status, version, isPending: false }
  }

  /** Learns what was read of an application, where that is newer. */
  learn(read: Omit<Seen, 'name'>): void {
    const { id, status, version } = read
    const shown = this.#state.shown.get(id)
    if (shown?.isPending || (shown && shown.version >= version)) return
    this.#show([[id, { status, version, isPending: false, isOthers: true }]])
  }

  /** Whether somebody else has changed an application since it was read. */
  isChanged(read: Omit<Seen, 'name'>): boolean {
    const { isOthers = false, version } = this.shownOf(read)
    return isOthers && version > read.version
  }

  /** Sets the status of some applications, as one act. */
  decide(seen: readonly Seen[], wanted: Status): void {
    this.#act(seen.map((each) => ({ seen: each, wanted })))
  }

  /** Takes the last act back. */
  undo(): void {
    this.#act(
      this.#lastAct.map((entry) => ({
        seen: entry.seen,
        wanted: entry.seen.status,
        // A later decision of somebody else on it is not taken back with it.
        from: entry.kept ?? undefined,
        takesBack: entry,
      })),
    )
    this.#lastAct = []
    this.#tell()
  }

  /** Decides again, as one act, after the organiser was told what somebody else did. */
  insist(problems: readonly Unkept[]): void {
    this.dismiss(problems)
    this.#act(problems.map(({ seen, wanted }) => ({ seen, wanted, from: seen.version })))
  }

  /** Leaves applications as they stand. */
  dismiss(problems: readonly Unkept[]): void {
    this.#tell({ problems: this.#state.problems.filter((each) => !problems.includes(each)) })
  }

  #act(wishes: Wish[]) {
    const entries = wishes.flatMap(({ seen, wanted, from, takesBack }): Entry[] => {
      const { status, version } = this.shownOf(seen)
      if (status === wanted) return []
      const previous = this.#pending.get(seen.id)
      return [{ seen: { ...seen, status, version }, wanted, previous, from: from ?? version, takesBack }]
    })
    if (entries.length === 0) return
    for (const entry of entries) this.#pending.set(entry.seen.id, entry)
    this.#lastAct = entries
    this.#show(
      entries.map(({ seen: { id, version }, wanted }) => [id, { status: wanted, version, isPending: true }]),
    )
    const isDecided = ({ seen }: Unkept) => entries.some((entry) => entry.seen.id === seen.id)
    this.dismiss(this.#state.problems.filter(isDecided))
    // An error of one act is reported, and does not keep later acts from being sent.
    this.#queue = this.#queue.then(() => this.#send(entries)).catch((error: unknown) => reportError(error))
  }

  async #send(entries: Entry[]) {
    const { signal } = this.#ending
    if (signal.aborted) return
    // Whoever decided after a decision that was not kept did not know that.
    const sent = entries.filter(({ previous }) => previous?.kept !== null)
    for (const entry of entries) {
      if (entry.previous?.isStopped) this.#leave(entry)
      else if (entry.previous?.problem) this.#lose(entry, entry.previous.problem)
    }
    const count = sent.length
    this.#isStopping = false
    try {
      for (let done = 0; done < count && !this.#isStopping; done += stepSize) {
        if (count > stepSize) this.#tell({ progress: { done, count } })
        await this.#sendStep(sent.slice(done, done + stepSize))
      }
      for (const entry of sent.filter(({ kept }) => kept === undefined)) this.#leave(entry)
    } catch (error) {
      if (signal.aborted) return
      for (const entry of sent.filter(({ kept }) => kept === undefined)) {
        const seen = { ...entry.seen, version: versionOf(entry) }
        this.#lose(entry, { seen, reason: { kind: 'failed', message: sentenceOf(error) } })
      }
    }
    // A decision that was not taken back because the act was stopped can still be taken back.
    if (this.#lastAct.length === 0)
      this.#lastAct = sent.flatMap(({ isStopped, takesBack }) => (isStopped && takesBack ? [takesBack] : []))
    this.#lastAct = this.#lastAct.filter(({ kept }) => kept !== null)
    this.#tell({ progress: null })
    this.#onOutcome(outcomeOf(entries))
  }

  /** Sends as much of an act as one call takes. */
  async #sendStep(sent: readonly Entry[]) {
    insistOnConnection()
    const decisions = sent.map((entry) => ({
      id: entry.seen.id,
      status: entry.wanted,
      version: versionOf(entry),
      takes_back: entry.takesBack !== undefined,
    }))
    const outcomes = await this.#callDesk('desk_decide', { act: newAct(), decisions }, this.#ending.signal)
    for (const entry of sent) {
      const outcome = outcomes.find(({ id }) => id === entry.seen.id)
      if (outcome === undefined || outcome.outcome === 'gone') {
        this.#lose(entry, { seen: entry.seen, reason: { kind: 'gone' } })
        continue
      }
      const { outcome: kind, status, version, author, at } = outcome
      if (kind === 'kept') {
        entry.kept = version
        this.#showOutcome(entry, outcome)
      } else {
        const seen = { ...entry.seen, status, version }
        this.#lose(entry, { seen, reason: kind === 'told' ? { kind } : { kind, author, at } })
      }
    }
  }

  /** Shows the status that the database has, unless a newer decision is on its way. */
  #showOutcome(entry: Entry, { status, version }: Pick<Shown, 'status' | 'version'>) {
    if (this.#pending.get(entry.seen.id) !== entry) return
    this.#pending.delete(entry.seen.id)
    this.#show([[entry.seen.id, { status, version, isPending: false }]])
  }

  /** Leaves an application as it was before, since the decision, or the one that it followed, was stopped. */
  #leave(entry: Entry) {
    entry.isStopped = true
    entry.kept = null
    if (entry.previous?.isStopped) entry.seen = entry.previous.seen
    this.#showOutcome(entry, { status: entry.seen.status, version: versionOf(entry) })
  }

  #lose(entry: Entry, why: Omit<Unkept, 'wanted'>) {
    entry.kept = null
    this.#showOutcome(entry, why.seen)
    const problem = { ...why, wanted: entry.wanted }
    entry.problem = problem
    const problems = this.#state.problems.filter(({ seen }) => seen.id !== entry.seen.id)
    this.#tell({ problems: standsAsWanted(entry) ? problems : [...problems, problem] })
  }

  #show(shown: readonly (readonly [id: string, Shown])[]) {
    this.#tell({ shown: new Map([...this.#state.shown, ...shown]) })
  }

  #tell(change: Partial<Omit<QueueState, 'lastAct'>> = {}) {
    const [first] = this.#lastAct
    const lastAct = first ? { count: this.#lastAct.length, status: first.wanted } : null
    this.#state = { ...this.#state, ...change, lastAct }
    for (const listener of this.#listeners) listener()
  }
}

/** The version that a decision is made on. */
function versionOf({ previous, from }: Entry) {
  return previous?.kept ?? from
}

/** Whether nothing is lost with a decision that was not kept, because somebody else decided the same. */
function standsAsWanted({ problem }: Entry) {
  return problem !== undefined && problem.reason.kind !== 'gone' && problem.seen.status === problem.wanted
}

/** What became of an act, as the live region says it. */
function outcomeOf(entries: readonly Entry[]) {
  const done = entries.filter((entry) => entry.kept !== null || standsAsWanted(entry))
  const stopped = entries.filter(({ isStopped }) => isStopped).length
  const lost = entries.length - done.length - stopped
  const [first] = done
  const wanted = new Set(done.map((entry) => statuses[entry.wanted]))
  const words = wanted.size === 1 ? [...wanted].join('') : 'as they were before'
  const said: string[] = []
  if (done.length > 1) said.push(`${done.length} applications: ${words}${formerOf(done)}`)
  else if (first) said.push(`${first.seen.name}: ${words}${first.kept === null ? ' already' : ''}`)
  if (lost > 0) said.push(entries.length > 1 ? `${lost} not saved` : `${entries[0]?.seen.name}: not saved`)
  if (stopped > 0) said.push(`stopped, ${stopped} left as they were`)
  return said.join('; ')
}

/** The former statuses of applications that were decided together, if they differed: ` (before: 26 New, 9 Waitlisted)`. */
function formerOf(entries: readonly Entry[]) {
  const counts = countsOf(entries.map(({ seen }) => seen.status))
  return counts.length < 2 || entries.some(({ takesBack }) => takesBack)
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
