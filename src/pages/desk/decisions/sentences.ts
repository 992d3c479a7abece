import { stepSize } from '../../../application/limits.ts'
import type { Progress } from '../data/decision-state.ts'
import type { Acceptances } from '../../../client/desk/applications.ts'
import { formatNumber, outOf } from '../kit/format.ts'

/** The progress in words: `300 of 1,000 saved`. It changes at each quarter, so that screen readers do not read every step. */
export function progressOf(progress: Progress): string {
  const quarters = Math.floor((progress.done * 4) / progress.count)
  if (quarters === 0) return ''
  const steps = Math.ceil((quarters * progress.count) / 4 / stepSize)
  return `${outOf(steps * stepSize, progress.count)} saved`
}

/** The number of places that are left, or fewer, at which the bar warns. */
const few = 2

/**
 * The number of acceptances and places; null if there is no limit.
 *
 * @returns `rest`: the words about the last places. `isFew`: whether at most two places are left, or none.
 */
export function placesWords({
  accepted,
  places,
}: Acceptances): { count: string; rest: string; isFew: boolean } | null {
  if (places === null) return null
  const left = places - accepted
  const rest =
    left > few ? '' : left >= 0 ? `, ${formatNumber(left)} left` : `, ${formatNumber(-left)} too many`
  return { count: outOf(accepted, places), rest, isFew: left <= few }
}
