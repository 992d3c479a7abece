import { useEffect, useState } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { focusHeading } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct, useLetters, useReadLettersAnew } from './letters.ts'
import { countOf } from './words.ts'

/** What was released and has not left yet, a bar for each act, whoever released it. */
export function LeavingBars({ callDesk }: { callDesk: CallDesk }) {
  const { data: overview, dataUpdatedAt } = useLetters(callDesk)
  if (overview === undefined || overview.leaving.length === 0) return null
  return (
    <div className="leaving">
      {overview.leaving.map(({ act, count, seconds }) => (
        <LeavingBar
          key={act}
          act={act}
          count={count}
          until={dataUpdatedAt + seconds * 1000}
          callDesk={callDesk}
        />
      ))}
    </div>
  )
}

interface LeavingBarProps {
  act: string
  count: number
  /** When they leave, by this browser's clock. */
  until: number
  callDesk: CallDesk
}

function LeavingBar({ act, count, until, callDesk }: LeavingBarProps) {
  const readAnew = useReadLettersAnew()
  const [now, setNow] = useState(() => Date.now())
  const left = Math.max(0, Math.ceil((until - now) / 1000))
  const stop = useLetterAct(
    (_given: void, signal) => callDesk('desk_withdraw', { act }, signal),
    ({ withdrawn, left: gone }) => {
      focusHeading()
      const rest = gone === 0 ? '' : ` ${countOf(gone, 'letter')} had left already.`
      announce(`${countOf(withdrawn, 'letter')} stopped.${rest}`)
    },
  )
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(clock)
  }, [])
  const isOver = left === 0
  useEffect(() => {
    if (isOver) void readAnew()
  }, [isOver, readAnew])
  if (isOver && !stop.isPending) return null
  return (
    <section className="row notice" aria-label="On their way">
      <p>
        {countOf(count, 'letter')} {count === 1 ? 'leaves' : 'leave'} in{' '}
        <span className="clock">{`${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`}</span>.
      </p>
      <button onClick={() => !stop.isPending && stop.mutate(undefined)}>
        {count === 1 ? 'Stop it' : 'Stop them'}
      </button>
      {stop.error && <p role="alert">Not stopped. {sentenceOf(stop.error)}</p>}
    </section>
  )
}
