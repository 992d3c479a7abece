import { useState } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import { newAct } from '../../../client/act.ts'
import type { Letter } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { Field } from '../kit/Field.tsx'
import { focusHeading } from '../kit/focus.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDeskAct } from '../kit/useDesk.tsx'
import { useTyped } from '../kit/useTyped.ts'
import { received } from './letters.ts'

interface UndeliveredEditProps {
  letter: Letter
  /** Whose letter it is, and which of them. */
  label: string
}

/** What can be done about a letter that did not arrive: it is tried again, sent elsewhere, or was told otherwise. */
export function UndeliveredEdit({ letter, label }: UndeliveredEditProps) {
  const letters = [letter.id]
  const [isReaddressing, setIsReaddressing] = useState(false)
  const done = (words: string) => {
    focusHeading()
    announce(`${label}: ${words}`)
  }
  const retry = useDeskAct('desk_retry', ({ retried }) =>
    done(retried > 0 ? 'is tried again' : 'cannot be tried again any more'),
  )
  const settle = useDeskAct('desk_settle', ({ settled }) =>
    done(settled > 0 ? 'told otherwise' : 'nothing is to be told any more'),
  )
  return (
    <>
      <div className="row">
        <button aria-label={`Try again: ${label}`} className="quiet" onClick={() => retry.press({ letters })}>
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
        <button
          aria-label={`Told otherwise: ${label}`}
          className="quiet"
          onClick={() => settle.press({ letters })}
        >
          Told otherwise
        </button>
      </div>
      {isReaddressing && (
        <Readdress
          letter={letter}
          onDone={(address) => done(`leaves for ${address}`)}
          onClose={() => setIsReaddressing(false)}
        />
      )}
      <Problem error={retry.error ?? settle.error} />
    </>
  )
}

interface ReaddressProps {
  letter: Letter
  onDone: (address: string) => void
  onClose: () => void
}

/** Sends a letter to another address; the answer stays as it was given. */
function Readdress({ letter, onDone, onClose }: ReaddressProps) {
  // Its act is kept with it: asked for again after a reload it is the same one.
  const [typed, type] = useTyped<{ act: string; address: string }>(`address ${letter.id}`)
  const { address = letter.to ?? '', act } = typed ?? {}
  const send = useDeskAct('desk_readdress', (_answer, given) => {
    type(null)
    onDone(given.address)
  })
  return (
    <form
      className="readdress"
      onSubmit={(event) => {
        event.preventDefault()
        send.press({ letter: letter.id, address: address.trim(), ...(act !== undefined && { act }) })
      }}
    >
      <Field
        label="Address"
        hint="All letters to this applicant go there from now on. The application keeps the e-mail that was given."
        type="email"
        autoComplete="off"
        required
        isFirst
        maxLength={mostCharacters.address}
        value={address}
        onText={(text) => type({ act: newAct(), address: text })}
      />
      <Problem said="Not sent." error={send.error} />
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
