/** A limit of the tries at one receiver. */
export interface Pace {
  /** The number of tries that may begin now. */
  free: () => number
  /** Counts tries that begin. */
  take: (tries: number) => void
}

/**
 * Limits the tries a minute evenly, so that a backlog does not flood the receiver. A pause saves up two seconds' tries at most.
 *
 * @param perMinute Tries a minute; 0 means no limit.
 * @param now A monotonic clock in milliseconds.
 */
export function createPace(perMinute: number, now = () => performance.now()): Pace {
  if (perMinute === 0) return { free: () => Number.POSITIVE_INFINITY, take: () => {} }
  const perMillisecond = perMinute / 60_000
  const size = Math.max(2_000 * perMillisecond, 1)
  let left = size
  let seen = now()
  return {
    free() {
      left = Math.min(left + (now() - seen) * perMillisecond, size)
      seen = now()
      // The clock's fractions may add up to slightly less than a whole try.
      return Math.floor(left + 1e-6)
    },
    take: (tries) => void (left -= tries),
  }
}
