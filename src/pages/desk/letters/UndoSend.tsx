import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import { Button } from '../kit/Button.tsx'
import { announce } from '../kit/announce.tsx'
import { countOf } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { acts } from '../data/acts.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { clockOf } from './letters.ts'

/** The letters that one act released. */
interface ReleasedLetters {
  act: string
  /** The only one of them that the bar is about; undefined for all. */
  letter?: string | undefined
  count: number
  /** The name of the only recipient, where the screen does not say whose letter it is. */
  name?: string | null | undefined
  /** Seconds from the read of the overview until they are sent. */
  seconds: number
  /** When they are sent, in milliseconds since 1970 by this browser's clock. */
  until: number
}

/**
 * A bar for each act, by any organiser, whose letters are not sent yet.
 *
 * @param letters The letters of one application. Then an act has a bar only for one of these, and stops only that one.
 */
export function UndoSend({ letters }: { letters?: readonly Letter[] }) {
  const { data: overview, dataUpdatedAt } = useQuery(useDesk().letters())
  // The bar of letters that are being stopped stays until the outcome is known, even if they have been sent meanwhile.
  const [stopping, setStopping] = useState<readonly ReleasedLetters[]>([])
  if (overview === undefined || overview.postman.stopped) return null
  // A read that overlaps the release can report a longer wait than the setting.
  const maxSeconds = overview.settings.hold_seconds
  const leaving = overview.leaving
    .flatMap((each): Omit<ReleasedLetters, 'until'>[] => {
      if (!letters) return [each]
      const letter = letters.find(({ act, state }) => act === each.act && state === 'waiting')
      return letter ? [{ ...each, count: 1, name: undefined, letter: letter.id }] : []
    })
    .map((each) => ({ ...each, seconds: Math.min(each.seconds, maxSeconds) }))
    .map((each) => ({ ...each, until: dataUpdatedAt + each.seconds * 1000 }))
  const isOtherThan = (one: ReleasedLetters) => (other: ReleasedLetters) => other.act !== one.act
  const gone = stopping.filter((one) => leaving.every(isOtherThan(one)))
  const all = [...leaving, ...gone]
  if (all.length === 0) return null
  return (
    <div className="letters-leaving">
      {all.map((each) => (
        <ReleasedBar
          key={each.act}
          {...each}
          isStopped={gone.includes(each) && each.until > dataUpdatedAt}
          onStop={() => setStopping((former) => [...former.filter(isOtherThan(each)), each])}
          onStopped={() => setStopping((former) => former.filter(isOtherThan(each)))}
        />
      ))}
    </div>
  )
}

interface ReleasedBarProps extends ReleasedLetters {
  /** Whether they are no longer on the way although it is too early: somebody stopped them. */
  isStopped: boolean
  onStop: () => void
  onStopped: () => void
}

function ReleasedBar(props: ReleasedBarProps) {
  const { act, letter, count, name, seconds, until, isStopped, onStop, onStopped } = props
  const [now, setNow] = useState(() => Date.now())
  // `now` may be up to a second older than the read.
  const secondsLeft = Math.max(0, Math.min(Math.ceil(seconds), Math.ceil((until - now) / 1000)))
  const stop = useDeskAct('desk_withdraw', {
    success({ withdrawn, left: alreadySent }) {
      const rest = alreadySent === 0 ? '' : ` ${countOf(alreadySent, 'letter')} had already been sent.`
      return `${countOf(withdrawn, 'letter')} stopped.${rest}`
    },
    onSuccess: onStopped,
  })
  const isOver = secondsLeft === 0
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(clock)
  }, [])
  const { refetch } = useDesk()
  // A bar that is late says nothing: its letters were sent before it appeared.
  const [isLate] = useState(isOver)
  const onOver = useEffectEvent(() => {
    if (!isLate && !stop.isPending)
      announce(`${countOf(count, 'letter')} ${count === 1 ? 'is' : 'are'} being sent.`)
    void refetch(acts.desk_withdraw.stale)
  })
  useEffect(() => {
    if (isOver) onOver()
  }, [isOver])
  const isSettled = isStopped && !stop.isPending
  const onSettled = useEffectEvent(onStopped)
  useEffect(() => {
    if (isSettled) onSettled()
  }, [isSettled])
  if (isSettled || (isOver && !stop.isPending && stop.error === null)) return null
  return (
    <section className="layout-row layout-notice" aria-label="On their way">
      <p className="letters-when">
        {isOver && stop.error !== null ? (
          `${countOf(count, 'letter')} may have been sent.`
        ) : (
          <>
            {countOf(count, 'letter')}
            {name && (
              <>
                {' '}
                to <bdi>{name}</bdi>
              </>
            )}{' '}
            will be sent in <span className="letters-clock">{clockOf(secondsLeft)}</span>.
          </>
        )}
      </p>
      <Button
        className=""
        isPending={stop.isPending}
        onPress={() => {
          onStop()
          stop.press(letter === undefined ? { act } : { letters: [letter] })
        }}
      >
        {`Stop ${countOf(count, 'letter')}`}
      </Button>
      <ActProblems acts={[stop]} />
    </section>
  )
}
