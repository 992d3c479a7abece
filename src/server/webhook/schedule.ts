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

/**
 * When a failed delivery is tried again.
 *
 * @param attempts How many tries have failed.
 * @param retryAfter Milliseconds that the receiver asked to wait, where it did.
 * @param random A number from 0 to 1, which spreads deliveries that failed together.
 * @returns Milliseconds from now; null where there are no tries left.
 */
export function nextPause(attempts: number, retryAfter = 0, random = Math.random): number | null {
  const pause = pauses[attempts - 1]
  if (pause === undefined) return null
  return Math.max(pause * (1 + random() / 10), Math.min(retryAfter, 24 * hours))
}
