import { useRef, useState } from 'react'

import { mostAtOnce, mostUnasked } from '../../../application/limits.ts'
import { newAct } from '../../../client/act.ts'
import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct } from './letters.ts'
import type { Unreleased } from './NotReleased.tsx'
import { countOf } from './words.ts'

interface SendDialogProps {
  callDesk: CallDesk
  /** What may be sent as it is shown. */
  drafts: readonly Letter[]
  holdSeconds: number
  onReleased: (unreleased: readonly Unreleased[]) => void
}

/** Sends what is shown, once it was said how many letters that are. */
export function SendDialog({ callDesk, drafts, holdSeconds, onReleased }: SendDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // What stood there when it was asked for. Asked for again after a failure it is the same act.
  const [asked, setAsked] = useState<{ act: string; drafts: readonly Letter[] }>({ act: '', drafts: [] })
  const [again, setAgain] = useState(false)
  const [typed, setTyped] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const repeated = asked.drafts.filter(({ edition }) => edition > 1).length
  const letters = asked.drafts.filter(({ edition }) => again || edition === 1)
  const isMany = letters.length > mostUnasked
  const { mutate, isPending, error, cancel } = useLetterAct(
    (_given: void, signal) =>
      callDesk(
        'desk_release',
        {
          act: asked.act,
          letters: letters.map(({ id, seen }) => ({ id, seen })),
          number: isMany ? Number(typed) : null,
          again,
        },
        signal,
      ),
    (outcomes) => {
      const released = outcomes.filter(({ outcome }) => outcome === 'released').length
      const unreleased = outcomes.flatMap(({ id, outcome }): Unreleased[] => {
        const letter = letters.find((each) => each.id === id)
        return outcome === 'released' || letter === undefined ? [] : [{ letter, outcome }]
      })
      dialog.current?.close()
      onReleased(unreleased)
      announce(
        `${countOf(released, 'letter')} on the way${unreleased.length > 0 ? `, ${unreleased.length} not sent` : ''}`,
      )
    },
  )
  const count = Math.min(drafts.length, mostAtOnce)
  return (
    <>
      <button
        aria-haspopup="dialog"
        onClick={() => {
          setAsked({ act: newAct(), drafts: drafts.slice(0, mostAtOnce) })
          setAgain(false)
          setTyped('')
          setIsWrong(false)
          dialog.current?.showModal()
        }}
      >
        Send {countOf(count, 'letter')}
      </button>
      <dialog ref={dialog} aria-labelledby="send-title" onClose={cancel}>
        <h2 id="send-title">Send {countOf(letters.length, 'letter')}?</h2>
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
            if (isRight && letters.length > 0 && !isPending) mutate(undefined)
          }}
        >
          {repeated > 0 && (
            <label className="tick">
              <input
                type="checkbox"
                checked={again}
                onChange={({ target }) => {
                  setAgain(target.checked)
                  // Other letters are another act.
                  setAsked({ ...asked, act: newAct() })
                }}
              />
              Send again to those who were sent this before ({repeated})
            </label>
          )}
          {isMany && (
            <div className="field">
              <label htmlFor="send-number">Type the number of letters, {letters.length}</label>
              <input
                id="send-number"
                type="text"
                inputMode="numeric"
                autoComplete="off"
                value={typed}
                onChange={({ target }) => setTyped(target.value)}
              />
            </div>
          )}
          {isWrong && <p role="alert">This is not the number of letters. Nothing was sent.</p>}
          {error && <p role="alert">{sentenceOf(error)}</p>}
          <button aria-disabled={letters.length === 0}>
            {isPending ? 'Sending…' : `Send ${countOf(letters.length, 'letter')}`}
          </button>
        </form>
        <form method="dialog">
          <button className="quiet">Cancel</button>
        </form>
      </dialog>
    </>
  )
}
