import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import { ActButton } from '../kit/ActButton.tsx'
import { leaveForHeading } from '../kit/focus.ts'
import { countOf } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { useDeskAct } from '../kit/useDeskAct.ts'
import { clockOf } from './letters.ts'

/** Letters that one act released, and when they leave, by this browser's clock. */
interface Leaving {
  act: string
  count: number
  /** From when it was read. */
  seconds: number
  until: number
}

/**
 * A bar for each act that released letters which have not left yet, by whichever organiser. Where the letters of one
 * application are given, letters to others are not shown.
 */
export function UndoSend({ letters }: { letters?: readonly Letter[] }) {
  const { data: overview, dataUpdatedAt } = useQuery(useDesk().letters())
  // Those that somebody stops stay until it is known what came of that, also where the letters have left meanwhile.
  const [stopping, setStopping] = useState<readonly Leaving[]>([])
  // Read while it was released, a letter seems to wait for longer than it does.
  const most = overview?.settings.hold_seconds ?? 0
  const leaving = (overview?.postman.stopped ? [] : (overview?.leaving ?? []))
    .filter(({ act, count }) => !letters || (count === 1 && letters.some((letter) => letter.act === act)))
    .map((each) => ({ ...each, seconds: Math.min(each.seconds, most) }))
    .map((each) => ({ ...each, until: dataUpdatedAt + each.seconds * 1000 }))
  const isOther = (one: Leaving) => (other: Leaving) => other.act !== one.act
  const all = [...leaving, ...stopping.filter((one) => leaving.every(isOther(one)))]
  if (all.length === 0) return null
  return (
    <div className="letters-leaving">
      {all.map((each) => (
        <Bar
          key={each.act}
          {...each}
          onStop={() => setStopping((former) => [...former.filter(isOther(each)), each])}
          onStopped={() => setStopping((former) => former.filter(isOther(each)))}
        />
      ))}
    </div>
  )
}

interface BarProps extends Leaving {
  onStop: () => void
  onStopped: () => void
}

function Bar({ act, count, seconds, until, onStop, onStopped }: BarProps) {
  const [now, setNow] = useState(() => Date.now())
  // The clock of the last second may be of before it was read.
  const left = Math.max(0, Math.min(Math.ceil(seconds), Math.ceil((until - now) / 1000)))
  const stop = useDeskAct('desk_withdraw', {
    says({ withdrawn, left: gone }) {
      const rest = gone === 0 ? '' : ` ${countOf(gone, 'letter')} had left already.`
      return `${countOf(withdrawn, 'letter')} stopped.${rest}`
    },
    fails: 'Not stopped.',
    onSuccess: onStopped,
  })
  const isOver = left === 0
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(clock)
  }, [])
  const { readAgainAfter } = useDesk()
  useEffect(() => {
    if (isOver) void readAgainAfter('desk_withdraw')
  }, [isOver, readAgainAfter])
  if (isOver && !stop.isPending && stop.error === null) return null
  return (
    <section ref={leaveForHeading} className="layout-row layout-notice" aria-label="On their way">
      <p>
        {countOf(count, 'letter')} {count === 1 ? 'leaves' : 'leave'} in{' '}
        <span className="letters-clock">{clockOf(left)}</span>.
      </p>
      <ActButton
        className=""
        isPending={stop.isPending}
        onPress={() => {
          onStop()
          stop.press({ act })
        }}
      >
        {`Stop ${countOf(count, 'letter')}`}
      </ActButton>
      <ActProblems acts={[stop]} />
    </section>
  )
}
