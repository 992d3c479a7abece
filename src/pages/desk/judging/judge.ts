import { statuses, type Status } from '../../../application/statuses.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { mayRetry, sentenceOf } from '../messages.ts'

/** Where an application stood when whoever decides saw it, and what it is called. */
export interface Seen {
  id: string
  name: string
  status: Status
  /** Counts the decisions on it. */
  version: number
}

/** How an application is shown to stand. */
export interface Shown {
  status: Status
  version: number
  /** Whether the database has not said yet that it keeps this. */
  isPending: boolean
}

/** A decision that was not kept, and why. */
export interface Problem {
  seen: Seen
  /** What was wanted. */
  wanted: Status
  reason:
    | { kind: 'stale'; author: string | null; at: string | null }
    | { kind: 'gone' }
    | { kind: 'failed'; message: string }
}

/** One decision on its way. */
interface Entry {
  seen: Seen
  wanted: Status
  /** The one before it on the same application, if its outcome was not known when this was made. */
  previous: Entry | undefined
  /** The version that it came to; null where it was not kept. */
  kept?: number | null
}

/** What the screen shows of all this. */
export interface Judgement {
  shown: ReadonlyMap<string, Shown>
  problems: readonly Problem[]
  /** Whether there is an act to undo. */
  canUndo: boolean
}

/** Milliseconds before an act that got no answer is sent again. It is known by its id, so it happens once. */
const retryPauses = [500, 1_000, 2_000, 4_000]

/**
 * Decides: each act is shown at once and sent in its turn. What somebody else changed meanwhile is not overwritten but
 * becomes a problem, which whoever decides may settle knowingly.
 */
export class Judge {
  readonly #callDesk: CallDesk
  readonly #onOutcome: (sentence: string) => void
  readonly #listeners = new Set<() => void>()
  #judgement: Judgement = { shown: new Map(), problems: [], canUndo: false }
  #lastAct: Entry[] = []
  /** The newest decision on each application whose outcome is not known. */
  readonly #pending = new Map<string, Entry>()
  #queue: Promise<void> = Promise.resolve()

  /** @param onOutcome Called with what became of each act, in a sentence. */
  constructor(callDesk: CallDesk, onOutcome: (sentence: string) => void) {
    this.#callDesk = callDesk
    this.#onOutcome = onOutcome
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly judgement = (): Judgement => this.#judgement

  /** How an application stands, of which the database told this. */
  shownOf({ id, status, version }: Omit<Seen, 'name'>): Shown {
    const shown = this.#judgement.shown.get(id)
    return shown && (shown.isPending || shown.version >= version)
      ? shown
      : { status, version, isPending: false }
  }

  /** Takes note of what was read of an application, where that is newer. */
  learn(read: Omit<Seen, 'name'>): void {
    const { status, version } = this.shownOf(read)
    if (version === read.version && status === read.status)
      this.#show(new Map([[read.id, this.shownOf(read)]]))
  }

  /** Sets the status of some applications, as one act. */
  decide(seen: readonly Seen[], wanted: Status): void {
    this.#act(seen.map((each) => ({ seen: each, wanted })))
  }

  /** Takes the last act back. */
  undo(): void {
    const entries = this.#lastAct.filter(({ kept }) => kept !== null)
    this.#act(
      entries.map((entry) => ({
        seen: { ...entry.seen, status: entry.wanted, version: entry.kept ?? entry.seen.version },
        wanted: entry.seen.status,
      })),
    )
    this.#lastAct = []
    this.#tell({ canUndo: false })
  }

  /** Decides again, having been told what somebody else did. */
  insist({ seen, wanted }: Problem): void {
    this.dismiss(seen.id)
    this.decide([seen], wanted)
  }

  /** Leaves an application as it stands. */
  dismiss(id: string): void {
    this.#tell({ problems: this.#judgement.problems.filter(({ seen }) => seen.id !== id) })
  }

  #act(wishes: { seen: Seen; wanted: Status }[]) {
    const entries = wishes.flatMap(({ seen, wanted }): Entry[] => {
      const { status, version } = this.shownOf(seen)
      if (status === wanted) return []
      const previous = this.#pending.get(seen.id)
      return [{ seen: { ...seen, status, version }, wanted, previous }]
    })
    if (entries.length === 0) return
    for (const entry of entries) this.#pending.set(entry.seen.id, entry)
    this.#lastAct = entries
    this.#show(
      new Map(
        entries.map(({ seen, wanted }) => [
          seen.id,
          { status: wanted, version: seen.version, isPending: true },
        ]),
      ),
    )
    this.#tell({
      canUndo: true,
      problems: this.#judgement.problems.filter(
        (each) => !entries.some(({ seen }) => seen.id === each.seen.id),
      ),
    })
    this.#queue = this.#queue.then(() => this.#send(entries))
  }

  async #send(entries: Entry[]) {
    // What was decided on top of a decision that was not kept was decided without knowing.
    const sent = entries.filter(({ previous }) => previous?.kept !== null)
    for (const entry of entries) if (!sent.includes(entry)) this.#lose(entry, undefined)
    const act = crypto.randomUUID()
    const decisions = sent.map(({ seen, wanted, previous }) => ({
      id: seen.id,
      status: wanted,
      version: previous?.kept ?? seen.version,
    }))
    try {
      const outcomes = sent.length === 0 ? [] : await this.#call(act, decisions)
      for (const entry of sent) {
        const outcome = outcomes.find(({ id }) => id === entry.seen.id) ?? {
          id: entry.seen.id,
          outcome: 'gone',
        }
        if (outcome.outcome === 'gone') {
          this.#lose(entry, { seen: entry.seen, wanted: entry.wanted, reason: { kind: 'gone' } })
          continue
        }
        const { status, version, author, at } = outcome
        if (outcome.outcome === 'kept') {
          entry.kept = version
          this.#settle(entry, { status, version })
        } else {
          const seen = { ...entry.seen, status, version }
          this.#lose(entry, { seen, wanted: entry.wanted, reason: { kind: 'stale', author, at } })
        }
      }
    } catch (error) {
      for (const entry of sent) {
        const reason = { kind: 'failed' as const, message: sentenceOf(error) }
        this.#lose(entry, { seen: entry.seen, wanted: entry.wanted, reason })
      }
    }
    this.#lastAct = this.#lastAct.filter(({ kept }) => kept !== null)
    this.#tell({ canUndo: this.#lastAct.length > 0 })
    this.#onOutcome(outcomeOf(entries))
  }

  async #call(act: string, decisions: { id: string; status: Status; version: number }[]) {
    for (const pause of retryPauses) {
      try {
        return await this.#callDesk('desk_decide', { act, decisions })
      } catch (error) {
        if (!mayRetry(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    }
    return this.#callDesk('desk_decide', { act, decisions })
  }

  /** Shows an application as it stands, unless something newer is on its way. */
  #settle(entry: Entry, { status, version }: { status: Status; version: number }) {
    if (this.#pending.get(entry.seen.id) !== entry) return
    this.#pending.delete(entry.seen.id)
    this.#show(new Map([[entry.seen.id, { status, version, isPending: false }]]))
  }

  #lose(entry: Entry, problem: Problem | undefined) {
    entry.kept = null
    const { problems } = this.#judgement
    const former = problems.find(({ seen }) => seen.id === entry.seen.id)
    const told = problem ?? (former && { ...former, wanted: entry.wanted })
    this.#settle(entry, told?.seen ?? entry.seen)
    if (told) this.#tell({ problems: [...problems.filter((each) => each !== former), told] })
  }

  #show(shown: ReadonlyMap<string, Shown>) {
    this.#tell({ shown: new Map([...this.#judgement.shown, ...shown]) })
  }

  #tell(change: Partial<Judgement>) {
    this.#judgement = { ...this.#judgement, ...change }
    for (const listener of this.#listeners) listener()
  }
}

/** What became of an act, as the live region says it. */
function outcomeOf(entries: readonly Entry[]) {
  const kept = entries.filter((entry) => entry.kept !== null)
  const lost = entries.length - kept.length
  const wanted = new Set(kept.map((entry) => entry.wanted))
  const [first] = kept
  const [only] = [...wanted]
  const said =
    first === undefined
      ? undefined
      : kept.length === 1
        ? `${first.seen.name}: ${statuses[first.wanted]}`
        : `${kept.length} applications: ${wanted.size === 1 && only !== undefined ? statuses[only] : 'as they were before'}`
  const notKept =
    lost === 0
      ? undefined
      : entries.length === 1
        ? `${entries[0]?.seen.name}: not saved`
        : `${lost} not saved`
  return [said, notKept].filter((part) => part !== undefined).join('; ')
}
