/** A limit of the tries at one receiver. */
export interface Pace {
  /** The number of tries that may begin now. */
  free: () => number
  /** Counts tries that begin. */
  take: (tries: number) => void
  /** Records the result of a try. */
  record: (isDelivered: boolean) => void
}

/** The tries a minute at a receiver that only fails. */
const slowest = 60

/**
 * Limits the tries a minute evenly, so that a backlog does not flood the receiver. A pause saves up two seconds' tries at most. Each
 * failed try halves the rate, down to one a second, and each delivery doubles it again.
 *
 * @param perMinute Tries a minute; 0 means no limit.
 * @param now A monotonic clock in milliseconds.
 */
export function createPace(perMinute: number, now = () => performance.now()): Pace {
  if (perMinute === 0) return { free: () => Number.POSITIVE_INFINITY, take: () => {}, record: () => {} }
  let rate = perMinute
  const size = () => Math.max(rate / 30, 1)
  let left = size()
  let seen = now()
  return {
    free() {
      left = Math.min(left + ((now() - seen) * rate) / 60_000, size())
      seen = now()
      // The clock's fractions may add up to slightly less than a whole try.
      return Math.floor(left + 1e-6)
    },
    take: (tries) => void (left -= tries),
    record(isDelivered) {
      rate = isDelivered ? Math.min(rate * 2, perMinute) : Math.max(rate / 2, Math.min(slowest, perMinute))
    },
  }
}
