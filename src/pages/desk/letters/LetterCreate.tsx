import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import { isSentByServer, isSendable, invitationHint } from './letters.ts'
import { FailedAddress } from './FailedAddress.tsx'
import { LetterFields, type LetterContent } from './LetterText.tsx'
import { DraftSend, DraftsUnsent, type Unsent } from './DraftSend.tsx'
import { Button } from '../kit/Button.tsx'
import { Form } from '../kit/Field.tsx'
import { focusOn, useOnHidden } from '../kit/focus.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { Drafts } from './DraftShow.tsx'

interface LetterCreateProps {
  application: string
  letters: readonly Letter[]
  /** Whether the applicant is accepted, so that a letter may ask for an RSVP. */
  mayAnswer: boolean
  /** Whether the organiser reads blind and cannot write to anybody. */
  isBlind: boolean
  /** When a letter to the applicant's address last failed. */
  failedAt: string | null
}

/** The drafts to one applicant, and a form for a letter without a template. */
export function LetterCreate({ application, letters, mayAnswer, isBlind, failedAt }: LetterCreateProps) {
  const { data: overview } = useQuery(useDesk().letters())
  const [unsent, setUnsent] = useState<readonly Unsent[]>([])
  const isByHand = ({ occasion }: Letter) =>
    overview !== undefined && !isSentByServer(occasion, overview.postman)
  return (
    <>
      <DraftsUnsent unsent={unsent} />
      <Drafts drafts={letters.filter(({ state }) => state === 'draft')} {...{ isByHand, application }}>
        {(draft) =>
          overview &&
          !isByHand(draft) &&
          isSendable(draft) && <DraftSend drafts={[draft]} overview={overview} onSent={setUnsent} />
        }
      </Drafts>
      {!isBlind && <LetterForm {...{ application, mayAnswer, failedAt }} />}
    </>
  )
}

/** The key of a letter to one person in `useUnsentText`. */
function letterTextName(application: string): string {
  return `letter ${application}`
}

/** The form of a letter without a template, opened by a button. Saving makes it a draft. */
function LetterForm({ application, mayAnswer, failedAt }: Omit<LetterCreateProps, 'letters' | 'isBlind'>) {
  const [text, setUnsent] = useUnsentText<LetterContent>(letterTextName(application))
  const { subject = '', body = '' } = text ?? {}
  const [isOpen, setIsOpen] = useState(false)
  // A form that opens together with its screen does not take the focus.
  const [takesFocus, setTakesFocus] = useState(false)
  const isWriting = isOpen || text !== null
  const openButton = useRef<HTMLButtonElement>(null)
  const writtenId = useRef('')
  const close = () => {
    setUnsent(null)
    setIsOpen(false)
  }
  const write = useDeskAct('desk_write_to', {
    success: () => 'Draft saved. Nothing has been sent.',
    text: letterTextName(application),
    onSuccess(letter) {
      writtenId.current = letter.id
      setIsOpen(false)
    },
  })
  useOnHidden(isWriting, () => {
    focusOn(document.getElementById(`draft-${writtenId.current}`) ?? openButton.current)
    writtenId.current = ''
  })
  const enter = (change: Partial<LetterContent>) => {
    const entered = { subject, body, ...change }
    // Emptying the fields must not close the form.
    setIsOpen(true)
    setUnsent(entered.subject === '' && entered.body === '' ? null : entered)
  }
  const open = () => {
    setTakesFocus(true)
    setIsOpen(true)
  }
  const discard = () => {
    write.cancel()
    close()
  }
  if (!isWriting)
    return (
      <Button ref={openButton} onPress={open}>
        Write from scratch
      </Button>
    )
  return (
    <Form
      className="drafts-form"
      aria-labelledby="new-letter"
      onSend={() => text !== null && write.press({ application, subject, body })}
    >
      <h3 id="new-letter">New letter</h3>
      <FailedAddress failedAt={failedAt} />
      <LetterFields
        value={{ subject, body }}
        hint={`It is sent exactly as written.${mayAnswer ? ` ${invitationHint}` : ''}`}
        takesFocus={takesFocus}
        readOnly={write.isPending}
        onEnter={enter}
      />
      <ActProblems acts={[write]} />
      <div className="layout-row">
        <Button isPending={write.isPending}>Save draft</Button>
        <Button onPress={discard}>Discard</Button>
      </div>
    </Form>
  )
}
