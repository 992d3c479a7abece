import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import { newAct } from '../../../client/act.ts'
import type { Filter } from '../../../client/desk/applications.ts'
import type { Letter } from '../../../client/desk/letters.ts'
import { DraftLeft } from '../drafts/DraftLeft.tsx'
import { DraftShow, useDraftChanges } from '../drafts/DraftShow.tsx'
import { DraftSend, DraftsUnsent, type Unsent } from '../drafts/DraftSend.tsx'
import { announce } from '../kit/announce.tsx'
import { Field, TextField } from '../kit/Field.tsx'
import { focusOn } from '../kit/focus.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { useTyped } from '../kit/useTyped.ts'
import { isCarried, placeHint } from './letters.ts'

interface LetterCreateProps {
  application: string
  /** Of the list that it was opened from. */
  filter: Filter
  letters: readonly Letter[]
  /** Whether the applicant is asked whether they come. */
  isAsked: boolean
  /** Whether the organiser reads blind: then they write to nobody. */
  isBlind: boolean
}

/** A letter to one person without a template: it is written, read as it will arrive, and sent. */
export function LetterCreate({ application, filter, letters, isAsked, isBlind }: LetterCreateProps) {
  const { data: overview } = useQuery(useDesk().letters())
  const { changes, keptOf } = useDraftChanges('')
  const [unsent, setUnsent] = useState<readonly Unsent[]>([])
  const drafts = letters.filter(({ occasion, state }) => occasion === '' && state === 'draft')
  const isByHand = overview !== undefined && !isCarried('', overview.postman)
  return (
    <>
      <DraftsUnsent unsent={unsent} />
      {Object.entries(changes)
        .filter(
          ([id, change]) => change.application === application && drafts.every((draft) => draft.id !== id),
        )
        .map(([id, change]) => (
          <DraftLeft key={id} {...{ id, change }} isAtApplication onDiscard={() => keptOf(id)[1](null)} />
        ))}
      {drafts.map((letter) => (
        <DraftShow
          key={letter.id}
          letter={letter}
          isByHand={isByHand}
          kept={keptOf(letter.id)}
          isAtApplication
        >
          {overview && !isByHand && (
            <DraftSend
              drafts={[letter]}
              holdSeconds={overview.settings.hold_seconds}
              onSent={(left) => {
                setUnsent(left)
                // The pressed button disappears.
                focusOn(document.querySelector('.leaving button'))
              }}
            />
          )}
        </DraftShow>
      ))}
      {!isBlind && <LetterForm {...{ application, filter, letters, isAsked }} />}
    </>
  )
}

/** The name of what is typed into a letter to one person. */
export function typedInto(application: string): string {
  return `letter ${application}`
}

/** The form in which it is written, which a button opens. It becomes a draft before it can be sent. */
function LetterForm({ application, filter, letters, isAsked }: Omit<LetterCreateProps, 'isBlind'>) {
  const desk = useDesk()
  // The act's id is kept with the text, so that a letter that is sent again because no answer came stays one letter.
  const [typed, type] = useTyped<{ act: string; subject: string; body: string }>(typedInto(application))
  // It may have become a draft after its writer left and before the answer came.
  const isThere = letters.some(({ id }) => id === typed?.act)
  const { subject = '', body = '', act = '' } = (isThere ? null : typed) ?? {}
  const [isOpen, setIsOpen] = useState(false)
  // A form that is open when the screen is opened does not take the focus.
  const [isFirst, setIsFirst] = useState(false)
  const isWriting = isOpen || act !== ''
  const openButton = useRef<HTMLButtonElement>(null)
  const wasWriting = useRef(isWriting)
  const written = useRef('')
  const { press, isPending, error, cancel } = useDeskAct('desk_write_to', (letter) => {
    written.current = letter.id
    type(null)
    setIsOpen(false)
    desk.keep(desk.application(application, filter), (whole) => ({
      ...whole,
      letters: [...whole.letters.filter(({ id }) => id !== letter.id), letter],
    }))
    announce('Draft made. Nothing has left.')
  })
  // The form disappears, and with it the element that has the focus.
  useEffect(() => {
    if (wasWriting.current && !isWriting) {
      focusOn(document.getElementById(`draft-${written.current}`) ?? openButton.current)
      written.current = ''
    }
    wasWriting.current = isWriting
  }, [isWriting])
  const enter = (change: Partial<Record<'subject' | 'body', string>>) => {
    const text = { subject, body, ...change }
    // Whoever empties it writes on.
    setIsOpen(true)
    type(text.subject === '' && text.body === '' ? null : { act: newAct(), ...text })
  }
  if (!isWriting)
    return (
      <button
        ref={openButton}
        className="quiet"
        onClick={() => {
          setIsFirst(true)
          setIsOpen(true)
        }}
      >
        Write a letter
      </button>
    )
  return (
    <form
      className="letter-form"
      aria-labelledby="new-letter"
      onSubmit={(event) => {
        event.preventDefault()
        if (act !== '') press({ application, act, subject, body })
      }}
    >
      <h3 id="new-letter">New letter</h3>
      <Field
        label="Subject"
        required
        isFirst={isFirst}
        maxLength={mostCharacters.subject}
        value={subject}
        readOnly={isPending}
        onText={(text) => enter({ subject: text })}
      />
      <TextField
        label="Text"
        hint={`It is sent as it stands here.${isAsked ? ` ${placeHint}` : ''}`}
        required
        maxLength={mostCharacters.body}
        value={body}
        readOnly={isPending}
        onText={(text) => enter({ body: text })}
      />
      <Problem said="Not kept as a draft:" error={error} />
      <div className="row">
        <button>{isPending ? 'Saving…' : 'Preview'}</button>
        <button
          type="button"
          className="quiet"
          onClick={() => {
            cancel()
            type(null)
            setIsOpen(false)
          }}
        >
          Discard
        </button>
      </div>
    </form>
  )
}
