import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import { newAct } from '../../../client/act.ts'
import type { Letter } from '../../../client/desk/letters.ts'
import { isCarried, isSendable, placeHint } from '../letters/letters.ts'
import { LetterFields, type Written } from '../letters/LetterText.tsx'
import { DraftSend, DraftsUnsent, type Unsent } from './DraftSend.tsx'
import { ActButton } from '../kit/ActButton.tsx'
import { Button } from '../kit/Button.tsx'
import { Form } from '../kit/Field.tsx'
import { focusOn, useWhenGone } from '../kit/focus.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { useDeskAct } from '../kit/useDeskAct.ts'
import { useTyped } from '../kit/useTyped.ts'
import { Drafts } from './DraftShow.tsx'

interface LetterCreateProps {
  application: string
  letters: readonly Letter[]
  /** Whether the applicant is asked whether they come. */
  isAsked: boolean
  /** Whether the organiser reads blind: then they write to nobody. */
  isBlind: boolean
}

/** The drafts to one applicant, which are read here as they will arrive, and sent; and a letter without a template. */
export function LetterCreate({ application, letters, isAsked, isBlind }: LetterCreateProps) {
  const { data: overview } = useQuery(useDesk().letters())
  const [unsent, setUnsent] = useState<readonly Unsent[]>([])
  // Also those of which no draft is left: something may be entered for one that was sent meanwhile.
  const occasions = new Set(['', ...letters.map(({ occasion }) => occasion)])
  const onSent = (notSent: readonly Unsent[]) => {
    setUnsent(notSent)
    // The pressed button disappears.
    focusOn(document.querySelector('.letters-leaving button'))
  }
  return (
    <>
      <DraftsUnsent unsent={unsent} />
      {[...occasions].map((occasion) => {
        const drafts = letters.filter((each) => each.occasion === occasion && each.state === 'draft')
        const isByHand = overview !== undefined && !isCarried(occasion, overview.postman)
        return (
          <Drafts key={occasion} {...{ occasion, drafts, isByHand, application }}>
            {(draft) =>
              overview &&
              !isByHand &&
              isSendable(draft) && <DraftSend drafts={[draft]} {...{ overview, onSent }} />
            }
          </Drafts>
        )
      })}
      {!isBlind && <LetterForm {...{ application, letters, isAsked }} />}
    </>
  )
}

/** The name of what is typed into a letter to one person. */
export function typedInto(application: string): string {
  return `letter ${application}`
}

/** The form in which it is written, which a button opens. It becomes a draft before it can be sent. */
function LetterForm({ application, letters, isAsked }: Omit<LetterCreateProps, 'isBlind'>) {
  // The act's id is kept with the text, so that a letter that is sent again because no answer came stays one letter.
  const [typed, type] = useTyped<Written & { act: string }>(typedInto(application))
  // It may have become a draft after its writer left and before the answer came.
  const isThere = letters.some(({ id }) => id === typed?.act)
  const { subject = '', body = '', act = '' } = (isThere ? null : typed) ?? {}
  const [isOpen, setIsOpen] = useState(false)
  // A form that is open when the screen is opened does not take the focus.
  const [isFirst, setIsFirst] = useState(false)
  const isWriting = isOpen || act !== ''
  const openButton = useRef<HTMLButtonElement>(null)
  const written = useRef('')
  const close = () => {
    type(null)
    setIsOpen(false)
  }
  const write = useDeskAct('desk_write_to', {
    says: () => 'Draft saved. Nothing has been sent.',
    fails: 'Draft not saved.',
    onSuccess(letter) {
      written.current = letter.id
      close()
    },
  })
  useWhenGone(isWriting, () => {
    focusOn(document.getElementById(`draft-${written.current}`) ?? openButton.current)
    written.current = ''
  })
  const enter = (change: Partial<Written>) => {
    const text = { subject, body, ...change }
    // Whoever empties it writes on.
    setIsOpen(true)
    type(text.subject === '' && text.body === '' ? null : { act: newAct(), ...text })
  }
  const open = () => {
    setIsFirst(true)
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
      onSend={() => act !== '' && write.press({ application, act, subject, body })}
    >
      <h3 id="new-letter">New letter</h3>
      <LetterFields
        value={{ subject, body }}
        hint={`It is sent as it stands here.${isAsked ? ` ${placeHint}` : ''}`}
        isFirst={isFirst}
        readOnly={write.isPending}
        onEnter={enter}
      />
      <ActProblems acts={[write]} />
      <div className="layout-row">
        <ActButton isPending={write.isPending}>Save draft</ActButton>
        <Button onPress={discard}>Discard</Button>
      </div>
    </Form>
  )
}
