/** The outcome of a call: right, a 503, a dropped connection, or the text of a wrong response. */
export type Outcome = 'right' | 'unavailable' | 'dropped' | { wrong: string }

/** A call under load. Times are in milliseconds of `performance.now()`. */
export interface Call {
  kind: string
  began: number
  ended: number
  outcome: Outcome
}

/** A loss of connections, until the database is reachable again. */
export interface Cut {
  began: number
  ended: number
}

export interface Verdict {
  /** The number of calls that ended before the cut, or began more than a second after it. */
  outside: number
  /** The number of calls outside the cut that were not served. */
  unserved: number
  /** All responses that are neither right nor a 503. */
  wrong: string[]
  /** The kind of call that was served again last, and the milliseconds after the cut. `Infinity` if it was not served. */
  lastServed: { kind: string; milliseconds: number }
}

/** Milliseconds after a cut in which calls may still fail, as during the cut. */
export const gracePeriod = 1_000

export function outcomeOf(status: number, body: string, isRight: boolean): Outcome {
  if (isRight) return 'right'
  return status === 503 ? 'unavailable' : { wrong: `${status} ${body.slice(0, 200)}` }
}

/**
 * Judges the calls around a cut.
 *
 * @param kinds The kinds of calls that must be served again after the cut.
 */
export function judge(calls: readonly Call[], cut: Cut, kinds: readonly string[]): Verdict {
  const outside = calls.filter(({ began, ended }) => ended < cut.began || began > cut.ended + gracePeriod)
  const recoveries = kinds.map((kind) => {
    const served = calls.find(
      (each) => each.kind === kind && each.began >= cut.ended && each.outcome === 'right',
    )
    return { kind, milliseconds: (served?.ended ?? Number.POSITIVE_INFINITY) - cut.ended }
  })
  return {
    outside: outside.length,
    unserved: outside.filter(({ outcome }) => outcome === 'unavailable' || outcome === 'dropped').length,
    wrong: calls.flatMap(({ kind, outcome }) =>
      typeof outcome === 'object' ? [`${kind}: ${outcome.wrong}`] : [],
    ),
    lastServed: recoveries.reduce((last, each) => (each.milliseconds > last.milliseconds ? each : last)),
  }
}
