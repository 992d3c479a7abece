import { secondsAhead } from '../../../client/clock.ts'
import { countOf } from '../kit/format.ts'

/** Minutes that a clock may be off without a notice. */
const tolerance = 5

/**
 * A notice if this device's clock differs from the server's.
 *
 * @param props.harm What may be wrong until the clock is set.
 */
export function ClockNotice({ harm = 'times that you choose here' }: { harm?: string }) {
  const ahead = secondsAhead()
  const minutes = Math.round(Math.abs(ahead) / 60)
  if (minutes < tolerance) return null
  return (
    <div className="layout-notice">
      <output>
        The clock of this device is {durationOf(minutes)} {ahead > 0 ? 'ahead' : 'behind'}. Please set it:{' '}
        {harm} may be wrong.
      </output>
    </div>
  )
}

/** A duration in its largest whole unit: `61 minutes`, `3 hours`. */
function durationOf(minutes: number) {
  if (minutes < 2 * 60) return countOf(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  return hours < 2 * 24 ? countOf(hours, 'hour') : countOf(Math.round(hours / 24), 'day')
}
