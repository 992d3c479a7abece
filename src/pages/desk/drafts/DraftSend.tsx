import { useRef, useState } from 'react'

import { mostAtOnce, mostUnasked } from '../../../application/limits.ts'
import type { Letter, ReleaseOutcome } from '../../../client/desk/letters.ts'
import { announce } from '../kit/announce.tsx'
import { Dialog, type DialogHandle } from '../kit/Dialog.tsx'
import { Field } from '../kit/Field.tsx'
import { countOf } from '../kit/format.ts'
import { applicationOf } from '../kit/route.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDeskAct } from '../kit/useDesk.tsx'
import { isAgain, nameOfLetter } from '../letters/letters.ts'

/** A draft that was to be sent and was not. */
export interface Unsent {
  letter: Letter
  outcome: Exclude<ReleaseOutcome['outcome'], 'released'>
}

interface DraftSendProps {
  /** The drafts that may be sent as they are shown. */
  drafts: readonly Letter[]
  holdSeconds: number
  onSent: (unsent: readonly Unsent[]) => void
}

/** Sends the drafts that are shown, after the organiser has confirmed their number. */
export function DraftSend({ drafts, holdSeconds, onSent }: DraftSendProps) {
  const dialog = useRef<DialogHandle>(null)
  // The drafts that were shown when the dialog opened.
  const [asked, setAsked] = useState<readonly Letter[]>([])
  const [again, setAgain] = useState(false)
  const [typed, setTyped] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const repeated = asked.filter(isAgain).length
  const letters = asked.filter((letter) => again || !isAgain(letter))
  const isMany = letters.length > mostUnasked
  const send = useDeskAct('desk_release', (outcomes) => {
    const released = outcomes.filter(({ outcome }) => outcome === 'released').length
    const unsent = outcomes.flatMap(({ id, outcome }): Unsent[] => {
      const letter = letters.find((each) => each.id === id)
      return outcome === 'released' || letter === undefined ? [] : [{ letter, outcome }]
    })
    dialog.current?.close()
    onSent(unsent)
    announce(
      `${countOf(released, 'letter')} on the way${unsent.length > 0 ? `, ${unsent.length} not sent` : ''}`,
    )
  })
  return (
    <Dialog
      ref={dialog}
      button={`Send ${countOf(Math.min(drafts.length, mostAtOnce), 'letter')}`}
      buttonClass=""
      title={`Send ${countOf(letters.length, 'letter')}?`}
      onOpen={() => {
        setAsked(drafts.slice(0, mostAtOnce))
        setAgain(false)
        setTyped('')
        setIsWrong(false)
      }}
      onClose={send.cancel}
    >
      <p>
        {holdSeconds > 0
          ? `Nothing leaves for ${countOf(holdSeconds, 'second')}: until then you can stop all of it.`
          : 'They leave at once.'}
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const isRight = !isMany || Number(typed) === letters.length
          setIsWrong(!isRight)
          if (!isRight || letters.length === 0) return
          send.press({
            letters: letters.map(({ id, seen }) => ({ id, seen })),
            number: isMany ? Number(typed) : null,
            again,
          })
        }}
      >
        {repeated > 0 && (
          <label className="tick">
            <input type="checkbox" checked={again} onChange={({ target }) => setAgain(target.checked)} />
            Send again to those who were sent this before ({repeated})
          </label>
        )}
        {isMany && (
          <Field
            label={`Type the number of letters, ${letters.length}`}
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onText={setTyped}
          />
        )}
        {isWrong && <p role="alert">This is not the number of letters. Nothing was sent.</p>}
        <Problem error={send.error} />
        <button aria-disabled={letters.length === 0}>
          {send.isPending ? 'Sending…' : `Send ${countOf(letters.length, 'letter')}`}
        </button>
      </form>
    </Dialog>
  )
}

const reasons: Record<Unsent['outcome'], string> = {
  changed: 'it changed since you read it. Please read it again.',
  missing: 'it quotes a blank answer, or asks whether they come, and they cannot answer that any more.',
  long: 'filled in, it is longer than a letter may be. Shorten it for this person.',
  again: 'they were sent this before.',
  gone: 'it is no draft any more: somebody sent or removed it, or decided otherwise.',
}

/** The drafts that were not sent, and why. */
export function DraftsUnsent({ unsent }: { unsent: readonly Unsent[] }) {
  if (unsent.length === 0) return null
  return (
    <div className="notice error" role="alert">
      <p>{countOf(unsent.length, 'letter')} not sent:</p>
      <ul>
        {unsent.map(({ letter, outcome }) => (
          <li key={letter.id}>
            <a href={applicationOf(letter.application)}>
              <bdi>{nameOfLetter(letter)}</bdi>
            </a>
            : {reasons[outcome]}
          </li>
        ))}
      </ul>
    </div>
  )
}
