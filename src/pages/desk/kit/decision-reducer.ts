import { stepSize } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'
import type { DecisionOutcome } from '../../../client/desk/applications.ts'
import {
  isAsWanted,
  isPending,
  shownIn,
  undoable,
  type Decision,
  type Known,
  type QueueState,
  type Refusal,
  type Seen,
} from './decision-state.ts'

/** An event of the decision queue. */
export type QueueEvent =
  | { type: 'read'; application: Omit<Seen, 'name'> }
  /** Forgets the decisions on some applications; without ids, on all. */
  | { type: 'forget'; ids: readonly string[] | undefined }
  | { type: 'decide'; applications: readonly Seen[]; wanted: Status }
  | { type: 'undo' }
  /** The organiser repeats refused decisions, or drops the refusals. */
  | { type: 'insist' | 'dismiss'; refusals: readonly Refusal[] }
  /** Marks the first decisions of the current act as sent, up to the limit of one call. */
  | { type: 'send' }
  | { type: 'reply'; outcomes: ReadonlyMap<string, DecisionOutcome> }
  /** The call failed. The rest of its act is not sent. */
  | { type: 'fail'; message: string; isUncertain: boolean }
  /** Drops the unsent decisions of the current act. */
  | { type: 'stop' }

/** Returns the queue after an event; the same object if nothing changed. */
export function reduce(state: QueueState, event: QueueEvent): QueueState {
  switch (event.type) {
    case 'read':
      return withRead(state, event.application)
    case 'forget':
      return without(state, event.ids)
    case 'decide':
      return withAct(
        state,
        event.applications.map((seen) => ({ seen, wanted: event.wanted })),
      )
    case 'undo':
      return withAct(state, undoable(state).map(undoing))
    case 'insist':
      return withAct(withoutRefusals(state, event.refusals), event.refusals.map(insisting))
    case 'dismiss':
      return withoutRefusals(state, event.refusals)
    case 'send':
      return withDraft(state, send)
    case 'reply':
      return withDraft(state, (draft) => settle(draft, event.outcomes))
    case 'fail':
      return withDraft(state, (draft) => fail(draft, event))
    case 'stop':
      return withDraft(state, stop)
  }
}

/** A decision to queue. `base`: the version to send, if it differs from the one shown. */
type Wish = Pick<Decision, 'seen' | 'wanted'> & { base?: number | undefined; takesBack?: boolean }

function undoing(decision: Decision): Wish {
  const { seen } = decision
  // If somebody else has decided since, the old version makes the database refuse the undo.
  const base = decision.state === 'saved' ? decision.version : undefined
  return { seen, wanted: seen.status, base, takesBack: true }
}

function insisting({ seen, wanted, takesBack, reason }: Refusal): Wish {
  return { seen, wanted, base: seen.version, takesBack: takesBack && reason.kind === 'failed' }
}

function withAct(state: QueueState, wishes: readonly Wish[]): QueueState {
  const act = new Map<string, Decision>()
  for (const { seen, wanted, base, takesBack = false } of wishes) {
    const { status, version } = shownIn(state, seen)
    if (status === wanted) continue
    const now = { ...seen, status, version }
    act.set(seen.id, { seen: now, wanted, base: base ?? version, takesBack, state: 'queued' })
  }
  if (act.size === 0) return state
  const refusals = new Map([...state.refusals].filter(([id]) => !act.has(id)))
  return { ...state, acts: [...state.acts, act], refusals }
}

function withoutRefusals(state: QueueState, refusals: readonly Refusal[]): QueueState {
  return {
    ...state,
    refusals: new Map([...state.refusals].filter(([, refusal]) => !refusals.includes(refusal))),
  }
}

function withRead(state: QueueState, { id, status, version }: Omit<Seen, 'name'>): QueueState {
  const known = state.known.get(id)
  if (known && known.version >= version) return state
  return { ...state, known: new Map([...state.known, [id, { status, version, isOthers: true }]]) }
}

/**
 * Forgets the decisions on these applications, or on all: nobody undoes them, and no screen names the applicants. Pending ones stay
 * until the response.
 */
function without(state: QueueState, ids: readonly string[] | undefined): QueueState {
  const isForgotten = (id: string) => ids?.includes(id) ?? true
  const acts = state.acts.map(
    (act) => new Map([...act].filter(([id, decision]) => isPending(decision) || !isForgotten(id))),
  )
  return { ...state, acts, refusals: new Map([...state.refusals].filter(([id]) => !isForgotten(id))) }
}

/** The parts of the queue that sending and settling change. */
interface Draft {
  /** The current act, and the ones after it. */
  act: Map<string, Decision>
  later: Map<string, Decision>[]
  known: Map<string, Known>
  refusals: Map<string, Refusal>
}

function withDraft(state: QueueState, change: (draft: Draft) => void): QueueState {
  const [act, ...later] = state.acts.slice(state.settled).map((each) => new Map(each))
  if (act === undefined) return state
  const [known, refusals] = [new Map(state.known), new Map(state.refusals)]
  change({ act, later, known, refusals })
  const acts = [...state.acts.slice(0, state.settled), act, ...later]
  const open = acts.findIndex((each) => [...each.values()].some(isPending))
  return { acts, settled: open === -1 ? acts.length : open, known, refusals }
}

function send({ act }: Draft) {
  for (const decision of [...act.values()].filter(isPending).slice(0, stepSize))
    act.set(decision.seen.id, { ...decision, state: 'sent' })
}

function settle(draft: Draft, outcomes: ReadonlyMap<string, DecisionOutcome>) {
  const { act, later, known } = draft
  for (const decision of [...act.values()].filter(({ state }) => state === 'sent')) {
    const { seen } = decision
    const outcome = outcomes.get(seen.id)
    if (outcome === undefined || outcome.outcome === 'gone') {
      refuse(draft, seen, { kind: 'gone' })
      continue
    }
    const { outcome: kind, status, version, author, at } = outcome
    // A newer version may have been read meanwhile.
    if ((known.get(seen.id)?.version ?? version) <= version) known.set(seen.id, { status, version })
    if (kind === 'kept') {
      act.set(seen.id, { ...decision, state: 'saved', version })
      rebase(later, seen.id, (next) => ({ ...next, base: version }))
    } else {
      refuse(draft, { ...seen, status, version }, kind === 'told' ? { kind } : { kind, author, at })
    }
  }
}

function fail(draft: Draft, { message, isUncertain }: Extract<QueueEvent, { type: 'fail' }>) {
  for (const { seen, base } of [...draft.act.values()].filter(isPending))
    refuse(draft, { ...seen, version: base }, { kind: 'failed', message, isUncertain })
}

/** Refuses all pending decisions on an application: the later ones were made without knowing of the refusal. */
function refuse({ act, later, refusals }: Draft, seen: Seen, reason: Refusal['reason']) {
  for (const each of [act, ...later]) {
    const decision = each.get(seen.id)
    if (!decision || !isPending(decision)) continue
    const { wanted, takesBack } = decision
    const refusal = { seen, wanted, takesBack, reason }
    each.set(seen.id, { ...decision, state: 'refused', refusal })
    refusals.delete(seen.id)
    if (!isAsWanted(refusal)) refusals.set(seen.id, refusal)
  }
}

function stop({ act, later }: Draft) {
  const decisions = [...act.values()]
  if (!decisions.some(({ state }) => state === 'sent')) return
  for (const decision of decisions.filter(({ state }) => state === 'queued')) {
    const { seen, base } = decision
    act.set(seen.id, { ...decision, state: 'stopped' })
    rebase(later, seen.id, (next) => {
      const isNothing = next.wanted === seen.status
      return { ...next, seen, base, state: isNothing ? 'stopped' : 'queued' }
    })
  }
}

/** Changes the next queued decisions on an application, until one stays queued, after the previous one was saved or stopped. */
function rebase(later: Draft['later'], id: string, change: (next: Decision) => Decision) {
  for (const act of later) {
    const next = act.get(id)
    if (next?.state !== 'queued') continue
    const changed = change(next)
    act.set(id, changed)
    if (changed.state === 'queued') return
  }
}
