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
/** How long all of them are together: what is older is not asked for again and again. */
const longest = pauses.reduce((sum, pause) => sum + pause, 0)
const leastPause = 1 * seconds
const mostPause = 24 * hours

/** When a delivery is tried again. */
export interface NextAttempt {
  /** Milliseconds from now. */
  pause: number
  /** Whether the failed try is one of the schedule's. */
  counts: boolean
}

/**
 * When a failed delivery is tried again.
 *
 * @param attempts How many tries have failed.
 * @param age Milliseconds since there was something to deliver; below zero where the clock was set back since.
 * @param retryAfter Milliseconds that the receiver asked to wait, where it did. Whoever asks for an earlier try than
 *   the schedule's is only busy: that try does not count, or a crowd would be given up within seconds.
 * @param random A number from 0 to 1, which spreads deliveries that failed together.
 * @returns Null where there are no tries left.
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
  const asked = Math.min(Math.max(retryAfter, leastPause), mostPause)
  return { pause: asked, counts: asked >= pause || age > longest || age < 0 }
}
