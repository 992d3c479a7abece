import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState, type ComponentProps, type ReactNode } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import { ActButton } from '../kit/ActButton.tsx'
import { ApplicationLink, Button } from '../kit/Button.tsx'
import { mailProgramLink } from '../kit/contact-links.ts'
import { focusHeading, useWhenGone } from '../kit/focus.ts'
import { LongText } from '../kit/LongText.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { useDeskAct } from '../kit/useDeskAct.ts'
import { useTyped, type Change } from '../kit/useTyped.ts'
import type { Unsaved } from '../kit/useVersionedDraft.tsx'
import {
  isAgain,
  isEdited,
  isFilledLater,
  isSendable,
  nameOfLetter,
  nameOfOccasion,
  siteOfDesk,
} from '../letters/letters.ts'
import { LetterText, type Written } from '../letters/LetterText.tsx'
import { DraftEdit, type KeptChange } from './DraftEdit.tsx'

/** Which draft it is, and whom it is for. */
type Whose = Pick<Letter, 'id' | 'application' | 'name'>

/** What is entered for a draft and not saved, and whom the draft is for. */
interface DraftChange extends Unsaved<Written>, Omit<Whose, 'id'> {}

/** What is entered for the drafts of an occasion and not saved, also for those that left the list. */
export function useDraftChanges(occasion: string) {
  const [changes, type] = useTyped<Record<string, DraftChange>>(`drafts ${occasion}`)
  const keep = ({ id, application: of, name }: Whose, change: Change<Unsaved<Written>>) =>
    type((latest) => {
      const { [id]: former = null, ...others } = latest ?? {}
      const changed = typeof change === 'function' ? change(former) : change
      const all = changed === null ? others : { ...others, [id]: { ...changed, application: of, name } }
      return Object.keys(all).length === 0 ? null : all
    })
  return {
    all: Object.entries(changes ?? {}).map(([id, change]) => ({ id, ...change })),
    /** What is entered for a draft. Equal to the stored text: not a change (a save may have succeeded without a response). */
    of(draft: Letter): KeptChange {
      const { [draft.id]: change = null } = changes ?? {}
      const isSame = change?.value.subject === draft.subject && change.value.body === draft.body
      return [isSame ? null : change, (changed) => keep(draft, changed)]
    },
    discard: (whose: Whose) => keep(whose, null),
  }
}

interface DraftsProps {
  occasion: string
  drafts: readonly Letter[]
  /** Whether organisers send them from their own mail program. */
  isByHand: boolean
  application: string
  /** What else can be done with a draft, while it is not edited. */
  children: (draft: Letter) => ReactNode
}

/** Drafts of an occasion to one applicant, at their application. */
export function Drafts({ occasion, drafts, isByHand, application, children }: DraftsProps) {
  const changes = useDraftChanges(occasion)
  return (
    <>
      <DraftsLeft {...{ changes, drafts, application }} />
      {drafts.map((draft) => (
        <DraftShow
          key={draft.id}
          letter={draft}
          kept={changes.of(draft)}
          isByHand={isByHand}
          isAtApplication
          onGone={focusHeading}
        >
          {children(draft)}
        </DraftShow>
      ))}
    </>
  )
}

interface DraftsLeftProps {
  changes: ReturnType<typeof useDraftChanges>
  drafts: readonly Letter[]
  /** The application at which they are shown. Without it, they are shown in the list of all. */
  application?: string
}

/** What was entered for drafts that left the list. */
export function DraftsLeft({ changes, drafts, application }: DraftsLeftProps) {
  return changes.all
    .filter((each) => application === undefined || each.application === application)
    .filter(({ id }) => drafts.every((draft) => draft.id !== id))
    .map((each) => (
      <DraftLeft
        key={each.id}
        change={each}
        isAtApplication={application !== undefined}
        onDiscard={() => changes.discard(each)}
      />
    ))
}

interface DraftShowProps {
  letter: Letter
  isByHand: boolean
  kept: KeptChange
  isAtApplication?: boolean
  isSheet?: boolean
  /** Called when this draft is about to disappear, with the focus. */
  onGone: () => void
  children?: ReactNode
}

/** One draft as it would be sent. */
export function DraftShow({ letter, isByHand, kept, onGone, children, ...place }: DraftShowProps) {
  const { id, seen } = letter
  const isOffTemplate = isEdited(letter)
  const [isOpen, setIsOpen] = useState(false)
  const isEditing = isOpen || kept[0] !== null
  const editButton = useRef<HTMLButtonElement>(null)
  const name = nameOfLetter(letter)
  const remove = useDeskAct('desk_discard', {
    says: ({ discarded }) => `${name}: ${discarded > 0 ? 'draft removed' : 'it is no draft any more'}`,
    fails: 'Not removed.',
    onSuccess: onGone,
  })
  const note = useDeskAct('desk_sent_by_hand', {
    says: () => `${name}: sent by hand`,
    fails: 'Not noted.',
    onSuccess: onGone,
  })
  const restore = useDeskAct('desk_edit', {
    says: () => `${name}: as the template has it`,
    fails: 'Not changed.',
    // The pressed button disappears.
    onSuccess: () => editButton.current?.focus(),
  })
  const mailto = isByHand && isSendable(letter) ? mailProgramLink(letter) : undefined
  const handOver = useDeskAct('desk_hand_over', { fails: 'Not opened.' })
  const { response: handed } = handOver
  const openHanded = useEffectEvent((text: Written) => {
    const link = document.createElement('a')
    link.href = mailProgramLink({ ...letter, ...text }) ?? ''
    link.click()
  })
  // Only when the act is over, since until then the page asks whether to leave it.
  useEffect(() => {
    if (handed) openHanded(handed)
  }, [handed])
  useWhenGone(isEditing, () => editButton.current?.focus())
  return (
    <DraftArticle
      whose={letter}
      {...place}
      heading={letter.occasion === '' ? 'Draft of a letter' : `Draft: ${nameOfOccasion(letter.occasion)}`}
    >
      <p className="layout-quiet">
        {letter.to === null ? (
          'The address is hidden: you read blind.'
        ) : (
          <>
            To <LongText text={letter.to} />
          </>
        )}
        {isOffTemplate && '. Changed for this person alone.'}
        {isAgain(letter) && ' They were sent this before.'}
      </p>
      {isEditing ? (
        <DraftEdit {...{ letter, kept, setIsOpen }} />
      ) : (
        <>
          <LetterText text={letter} />
          <ActProblems acts={[remove, restore, note, handOver]} />
          <div className="layout-row">
            {children}
            {mailto !== undefined && !isFilledLater(letter) && (
              <a aria-label={`Open in mail program: ${name}`} className="control-link" href={mailto}>
                Open in mail program
              </a>
            )}
            {mailto !== undefined && isFilledLater(letter) && (
              <ActButton
                about={name}
                className=""
                isPending={handOver.isPending}
                onPress={() => handOver.press({ letter: id, seen, site: siteOfDesk() })}
              >
                Open in mail program
              </ActButton>
            )}
            {mailto !== undefined && (
              <ActButton
                about={name}
                isPending={note.isPending}
                onPress={() => note.press({ letter: id, seen })}
              >
                I sent it
              </ActButton>
            )}
            {/* A letter that was written to one person may contain their name. */}
            {letter.name !== null && (
              <Button about={name} ref={editButton} onPress={() => setIsOpen(true)}>
                Edit
              </Button>
            )}
            {isOffTemplate && letter.name !== null && (
              <ActButton
                about={name}
                isPending={restore.isPending}
                onPress={() => restore.press({ letter: id, seen, subject: '', body: '' })}
              >
                Back to the template
              </ActButton>
            )}
            <ActButton
              about={name}
              isPending={remove.isPending}
              onPress={() => remove.press({ letters: [id] })}
            >
              Remove
            </ActButton>
          </div>
        </>
      )}
    </DraftArticle>
  )
}

interface DraftLeftProps {
  change: DraftChange & Whose
  isAtApplication: boolean
  onDiscard: () => void
}

/**
 * Shows what was entered for a draft that was sent or removed meanwhile, so that it can be copied. Shows nothing where the
 * draft is only further down in the list.
 */
function DraftLeft({ change, isAtApplication, onDiscard }: DraftLeftProps) {
  const { data: letters } = useQuery(useDesk().lettersOf(change.application))
  const article = useRef<HTMLElement>(null)
  const isLeft = letters?.some(({ id, state }) => id === change.id && state === 'draft') === false
  // The form in which it was entered disappeared, perhaps with the focus.
  useEffect(() => {
    if (isLeft && document.activeElement === document.body) article.current?.focus()
  }, [isLeft])
  if (!isLeft) return null
  return (
    <DraftArticle
      ref={article}
      tabIndex={-1}
      whose={change}
      isAtApplication={isAtApplication}
      heading="What you entered"
    >
      <p className="layout-notice error" role="alert">
        This is no draft any more: somebody sent or removed it, or decided otherwise. What you entered is
        still here and not saved.
      </p>
      <div className="letters-letter">
        <p className="letters-subject">{change.value.subject}</p>
        <p className="letters-body">{change.value.body}</p>
      </div>
      <Button about={nameOfLetter(change)} onPress={onDiscard}>
        Discard
      </Button>
    </DraftArticle>
  )
}

interface DraftArticleProps extends ComponentProps<'article'> {
  whose: Whose
  /** Whether it is shown at the application that it is for; elsewhere its heading is the applicant's name. */
  isAtApplication?: boolean | undefined
  isSheet?: boolean | undefined
  heading: string
}

/** What stands around a draft, under its heading. */
function DraftArticle(props: DraftArticleProps) {
  const { whose, isAtApplication = false, isSheet = !isAtApplication, heading, children, ...article } = props
  const id = `draft-${whose.id}`
  return (
    <article
      className={isSheet ? 'drafts-draft layout-sheet' : 'drafts-draft'}
      aria-labelledby={id}
      {...article}
    >
      {isAtApplication ? (
        <h3 id={id} tabIndex={-1}>
          {heading}
        </h3>
      ) : (
        <h2 id={id}>
          <ApplicationLink id={whose.application}>{nameOfLetter(whose)}</ApplicationLink>
        </h2>
      )}
      {children}
    </article>
  )
}
