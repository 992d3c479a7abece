import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { focusHeading } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { forgetLeaving, useLeaving, type Leaving } from './leaving.ts'
import { useLetterAct } from './letters.ts'
import { countOf } from './words.ts'

/** What was released and has not left yet, a bar for each act. */
export function LeavingBars({ callDesk }: { callDesk: CallDesk }) {
  const leaving = useLeaving()
  if (leaving.length === 0) return null
  return (
    <div className="leaving">
      {leaving.map((each) => (
        <LeavingBar key={each.act} leaving={each} callDesk={callDesk} />
      ))}
    </div>
  )
}

function LeavingBar({ leaving: { act, count, until }, callDesk }: { leaving: Leaving; callDesk: CallDesk }) {
  const queries = useQueryClient()
  const [now, setNow] = useState(() => Date.now())
  const left = Math.max(0, Math.ceil((until - now) / 1000))
  const stop = useLetterAct(
    () => callDesk('desk_withdraw', { act }),
    ({ withdrawn, left: gone }) => {
      forgetLeaving(act)
      focusHeading()
      const rest = gone === 0 ? '' : ` ${countOf(gone, 'letter')} had left already.`
      announce(`${countOf(withdrawn, 'letter')} stopped.${rest}`)
    },
  )
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(clock)
  }, [])
  useEffect(() => {
    if (left > 0 || stop.isPending) return
    forgetLeaving(act)
    void queries.invalidateQueries({ queryKey: ['letters'] })
  }, [left, stop.isPending, act, queries])
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
