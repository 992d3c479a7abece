import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import { Button } from '../kit/Button.tsx'
import { mailProgramLink } from './contact-links.ts'
import { hasFocus, useOnHidden } from '../kit/focus.ts'
import { LongText } from '../kit/LongText.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { isMistyped } from './mistyped.ts'
import {
  wasSentBefore,
  isEdited,
  isFilledLater,
  isSendable,
  nameOfLetter,
  nameOfOccasion,
  siteOfDesk,
} from './letters.ts'
import { LetterText, type LetterContent } from './LetterText.tsx'
import { DraftArticle } from './DraftArticle.tsx'
import { FailedAddress } from './FailedAddress.tsx'
import { useDraftChanges } from './draft-changes.ts'
import { DraftEdit, type DraftInput } from './DraftEdit.tsx'
import { OrphanedTexts } from './OrphanedTexts.tsx'

interface DraftsProps {
  drafts: readonly Letter[]
  /** Whether organisers send a draft from their own email program. */
  isByHand: (draft: Letter) => boolean
  application: string
  /** More buttons for a draft, while it is not being edited. */
  children: (draft: Letter) => ReactNode
}

/** The drafts to one applicant, on the screen of their application. */
export function Drafts({ drafts, isByHand, application, children }: DraftsProps) {
  const changes = useDraftChanges()
  return (
    <>
      <OrphanedTexts
        {...{ changes, drafts }}
        isShown={(text) => text.application === application}
        isAtApplication
      />
      {drafts.map((draft) => (
        <DraftShow
          key={draft.id}
          letter={draft}
          input={changes.of(draft)}
          isByHand={isByHand(draft)}
          isAtApplication
        >
          {children(draft)}
        </DraftShow>
      ))}
    </>
  )
}

interface DraftShowProps {
  letter: Letter
  isByHand: boolean
  input: DraftInput
  isAtApplication?: boolean
  isSheet?: boolean
  /** Called after this draft was removed or noted as sent, if it had the focus. */
  onGone?: () => void
  children?: ReactNode
}

/** One draft as it would be sent, with its buttons. */
export function DraftShow({ letter, isByHand, input, onGone, children, ...articleProps }: DraftShowProps) {
  const { id, seen } = letter
  const differsFromTemplate = isEdited(letter)
  const [isOpen, setIsOpen] = useState(false)
  const hasUnsaved = input[0] !== null
  // Blind readers cannot edit: the text may contain the person's name.
  const isBlind = letter.name === null
  const isEditing = !isBlind && (isOpen || hasUnsaved)
  const editButton = useRef<HTMLButtonElement>(null)
  const name = nameOfLetter(letter)
  const article = useRef<HTMLElement>(null)
  const onSuccess = () => hasFocus(article.current) && onGone?.()
  const remove = useDeskAct('desk_discard', {
    success: ({ discarded }) => `${name}: ${discarded > 0 ? 'draft removed' : 'no longer a draft'}`,
    onSuccess,
  })
  const noteSent = useDeskAct('desk_sent_by_hand', {
    success: () => `${name}: sent by hand`,
    onSuccess,
  })
  const restore = useDeskAct('desk_edit', {
    success: () => `${name}: back to the template`,
    // The pressed button disappears.
    onSuccess: () => hasFocus(article.current) && editButton.current?.focus(),
  })
  const mailto = isByHand && isSendable(letter) ? mailProgramLink(letter) : undefined
  const handOver = useDeskAct('desk_hand_over')
  const { response: handedOver } = handOver
  const openInMailProgram = useEffectEvent((text: LetterContent) => {
    const link = document.createElement('a')
    link.href = mailProgramLink({ ...letter, ...text }) ?? ''
    link.click()
  })
  // The link opens after the act has ended: until then, the browser would ask whether to leave the page.
  useEffect(() => {
    if (handedOver) openInMailProgram(handedOver)
  }, [handedOver])
  useOnHidden(isEditing, () => editButton.current?.focus())
  return (
    <DraftArticle
      ref={article}
      recipient={letter}
      {...articleProps}
      heading={letter.occasion === '' ? 'Draft of a letter' : `Draft: ${nameOfOccasion(letter.occasion)}`}
    >
      <p className="layout-quiet">
        {letter.to === null ? (
          `The address ${hasUnsaved ? 'and your unsaved changes are' : 'is'} hidden: blind reading is on.`
        ) : (
          <>
            To <LongText text={letter.to} />
          </>
        )}
        {differsFromTemplate && '. Edited for this person.'}
        {wasSentBefore(letter) && ' They already have this letter.'}
      </p>
      {isMistyped(letter) && (
        <p className="layout-notice error">
          This address is surely mistyped: the letter does not reach this person.
        </p>
      )}
      <FailedAddress failedAt={letter.failed_at} />
      {isEditing ? (
        <DraftEdit {...{ letter, input, setIsOpen }} />
      ) : (
        <>
          <LetterText text={letter} />
          <ActProblems acts={[remove, restore, noteSent, handOver]} />
          <div className="layout-row">
            {!hasUnsaved && children}
            {mailto !== undefined && !isFilledLater(letter) && (
              <a aria-label={`Open in mail program: ${name}`} className="control-link" href={mailto}>
                Open in mail program
              </a>
            )}
            {mailto !== undefined && isFilledLater(letter) && (
              <Button
                about={name}
                className=""
                isPending={handOver.isPending}
                onPress={() => handOver.press({ letter: id, seen, site: siteOfDesk() })}
              >
                Open in mail program
              </Button>
            )}
            {mailto !== undefined && (
              <Button
                about={name}
                isPending={noteSent.isPending}
                onPress={() => noteSent.press({ letter: id, seen })}
              >
                Mark as sent
              </Button>
            )}
            {!isBlind && (
              <Button about={name} ref={editButton} onPress={() => setIsOpen(true)}>
                Edit
              </Button>
            )}
            {differsFromTemplate && !isBlind && (
              <Button
                about={name}
                isPending={restore.isPending}
                onPress={() => restore.press({ letter: id, seen, subject: '', body: '' })}
              >
                Back to the template
              </Button>
            )}
            <Button about={name} isPending={remove.isPending} onPress={() => remove.press({ letters: [id] })}>
              Remove
            </Button>
          </div>
        </>
      )}
    </DraftArticle>
  )
}
