/** What a call came to: what it should, a 503, a dropped line, or anything else, in words. */
export type Outcome = 'right' | 'unavailable' | 'dropped' | { wrong: string }

/** A call under load. Times are in milliseconds of `performance.now()`. */
export interface Call {
  of: string
  began: number
  ended: number
  outcome: Outcome
}

/** A loss of connections, until the database can be reached again. */
export interface Cut {
  began: number
  ended: number
}

export interface Verdict {
  /** Calls that were over before the cut, or began more than a second after it. */
  outside: number
  /** Those of them that were not served. */
  unserved: number
  /** Responses that are neither right nor a 503, of any call. */
  wrong: string[]
  /** The kind of calls that was served again last, and when: milliseconds after the cut, `Infinity` where it was not. */
  back: { of: string; after: number }
}

/** Milliseconds after a cut that count as part of it. */
export const aftermath = 1_000

/** Tells what a response comes to. */
export function outcomeOf(status: number, body: string, isRight: boolean): Outcome {
  if (isRight) return 'right'
  return status === 503 ? 'unavailable' : { wrong: `${status} ${body.slice(0, 200)}` }
}

/**
 * Judges the calls around a cut.
 *
 * @param kinds What there are calls of.
 */
export function judge(calls: readonly Call[], cut: Cut, kinds: readonly string[]): Verdict {
  const outside = calls.filter(({ began, ended }) => ended < cut.began || began > cut.ended + aftermath)
  const backs = kinds.map((of) => {
    const served = calls.find((each) => each.of === of && each.began >= cut.ended && each.outcome === 'right')
    return { of, after: (served?.ended ?? Number.POSITIVE_INFINITY) - cut.ended }
  })
  return {
    outside: outside.length,
    unserved: outside.filter(({ outcome }) => outcome === 'unavailable' || outcome === 'dropped').length,
    wrong: calls.flatMap(({ of, outcome }) =>
      typeof outcome === 'object' ? [`${of}: ${outcome.wrong}`] : [],
    ),
    back: backs.reduce((last, other) => (other.after > last.after ? other : last)),
  }
}
