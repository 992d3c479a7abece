const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

/**
 * Milliseconds before the second try, the third, and so on.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const pauses = [
  5 * seconds,
  5 * minutes,
  30 * minutes,
  2 * hours,
  5 * hours,
  10 * hours,
  14 * hours,
  20 * hours,
  24 * hours,
]
/** The sum of all pauses. For an older delivery, `Retry-After` no longer adds tries. */
const totalPause = pauses.reduce((sum, pause) => sum + pause, 0)
const minPause = 1 * seconds
const maxPause = 24 * hours

/** When and how a delivery is retried. */
export interface NextAttempt {
  /** Milliseconds from now. */
  pause: number
  /** Whether the failed try uses up one of the allowed tries. */
  counts: boolean
}

/**
 * Computes when a failed delivery is retried.
 *
 * @param attempts The number of tries that failed.
 * @param age Milliseconds since it was queued; negative if the clock was set back.
 * @param retryAfter Milliseconds that the receiver asked to wait, if it did. A wait shorter than the schedule's means that
 *   the receiver is busy. Then the try does not count, unless the delivery is older than all pauses together. If all such tries
 *   counted, many deliveries at once would be given up within seconds.
 * @param random Gives a number from 0 to 1, the jitter that spreads deliveries which failed together.
 * @returns Null if no tries are left.
 */
export function nextAttempt(
  attempts: number,
  age: number,
  retryAfter?: number,
  random = Math.random,
): NextAttempt | null {
  const pause = pauses[attempts - 1]
  if (pause === undefined) return null
  const scheduled = pause * (1 + random() / 10)
  if (retryAfter === undefined) return { pause: scheduled, counts: true }
  const requestedPause = Math.min(Math.max(retryAfter, minPause), maxPause)
  return { pause: requestedPause, counts: requestedPause >= pause || age > totalPause || age < 0 }
}
