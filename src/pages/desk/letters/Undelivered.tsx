import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import { newAct } from '../../../client/act.ts'
import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { focusHeading } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { useTyped } from '../typed.ts'
import { useLetterAct } from './letters.ts'
import { received } from './words.ts'

interface UndeliveredProps {
  callDesk: CallDesk
  letter: Letter
  /** Whose letter it is, and which of them. */
  label: string
}

/** What can be done about a letter that did not arrive: it is tried again, sent elsewhere, or was told otherwise. */
export function Undelivered({ callDesk, letter, label }: UndeliveredProps) {
  const { id, application } = letter
  const queries = useQueryClient()
  const [isReaddressing, setIsReaddressing] = useState(false)
  const done = (words: string) => {
    focusHeading()
    announce(`${label}: ${words}`)
    void queries.invalidateQueries({ queryKey: ['application', application] })
  }
  const retry = useLetterAct(
    (_given: void, signal) => callDesk('desk_retry', { letters: [id] }, signal),
    ({ retried }) => done(retried > 0 ? 'is tried again' : 'cannot be tried again any more'),
  )
  const settle = useLetterAct(
    (_given: void, signal) => callDesk('desk_settle', { letters: [id] }, signal),
    ({ settled }) => done(settled > 0 ? 'told otherwise' : 'nothing is to be told any more'),
  )
  const problem = retry.error ?? settle.error
  return (
    <>
      <div className="row">
        <button aria-label={`Try again: ${label}`} className="quiet" onClick={() => retry.mutate()}>
          Try again
        </button>
        {/* An automation, and a receipt, go by the answer alone; who reads blind knows no address. */}
        {letter.way === 'mail' && letter.occasion !== received && letter.to !== null && (
          <button
            aria-label={`Another address: ${label}`}
            className="quiet"
            aria-expanded={isReaddressing}
            onClick={() => setIsReaddressing(!isReaddressing)}
          >
            Another address
          </button>
        )}
        <button aria-label={`Told otherwise: ${label}`} className="quiet" onClick={() => settle.mutate()}>
          Told otherwise
        </button>
      </div>
      {isReaddressing && (
        <Readdress
          callDesk={callDesk}
          letter={letter}
          onDone={(address) => done(`leaves for ${address}`)}
          onClose={() => setIsReaddressing(false)}
        />
      )}
      {problem && <p role="alert">{sentenceOf(problem)}</p>}
    </>
  )
}

interface ReaddressProps {
  callDesk: CallDesk
  letter: Letter
  onDone: (address: string) => void
  onClose: () => void
}

/** Sends a letter to another address; the answer stays as it was given. */
function Readdress({ callDesk, letter, onDone, onClose }: ReaddressProps) {
  // Asked for again after a failure it is the same act, where it is the same address.
  const [typed, type] = useTyped<{ act: string; address: string }>(`address ${letter.id}`)
  const [untouched] = useState(() => ({ act: newAct(), address: letter.to ?? '' }))
  const asked = typed ?? untouched
  const send = useLetterAct(
    (given: typeof asked, signal) => callDesk('desk_readdress', { ...given, letter: letter.id }, signal),
    (_answer, { address }) => {
      type(null)
      onDone(address)
    },
  )
  const inputId = `address-${letter.id}`
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <form
      className="readdress"
      onSubmit={(event) => {
        event.preventDefault()
        send.mutate({ ...asked, address: asked.address.trim() })
      }}
    >
      <div className="field">
        <label htmlFor={inputId}>Address</label>
        <input
          ref={field}
          id={inputId}
          aria-describedby={`${inputId}-hint`}
          type="email"
          autoComplete="off"
          required
          maxLength={mostCharacters.address}
          value={asked.address}
          onChange={({ target }) => type({ act: newAct(), address: target.value })}
        />
        <p className="hint" id={`${inputId}-hint`}>
          All letters to this applicant go there from now on. The application keeps the e-mail that was given.
        </p>
      </div>
      {send.error && <p role="alert">Not sent. {sentenceOf(send.error)}</p>}
      <div className="row">
        <button>{send.isPending ? 'Sending…' : 'Send there'}</button>
        <button
          type="button"
          className="quiet"
          onClick={() => {
            type(null)
            onClose()
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  )
}
