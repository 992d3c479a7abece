import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import { Button } from '../kit/Button.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useReading } from '../data/useReading.ts'
import { nameOfLetter } from './letters.ts'
import { DraftArticle } from './DraftArticle.tsx'
import type { DraftChange, useDraftChanges, Recipient } from './draft-changes.ts'

interface OrphanedTextsProps {
  changes: ReturnType<typeof useDraftChanges>
  drafts: readonly Letter[]
  /** Whether a text belongs to the screen. */
  isShown: (recipient: Recipient) => boolean
  isAtApplication?: boolean
}

/** The unsaved text of drafts that are no longer in the list. */
export function OrphanedTexts({ changes, drafts, isShown, isAtApplication = false }: OrphanedTextsProps) {
  return changes.all
    .filter(isShown)
    .filter(({ id }) => drafts.every((draft) => draft.id !== id))
    .map((each) => (
      <OrphanedText
        key={each.id}
        change={each}
        isAtApplication={isAtApplication}
        onDiscard={() => changes.discard(each)}
      />
    ))
}

interface OrphanedTextProps {
  change: DraftChange & Recipient
  isAtApplication: boolean
  onDiscard: () => void
}

/**
 * Shows the unsaved text of a draft that was sent or removed meanwhile, so that the organiser can copy it. Shows nothing for
 * a draft that is on a later page, and nothing to blind readers, since the text and the recipient's name are from before.
 */
function OrphanedText({ change, isAtApplication, onDiscard }: OrphanedTextProps) {
  const { call } = useDesk()
  const { application } = change
  const { data: letters } = useQuery({
    queryKey: ['letters', 'of', application],
    queryFn: ({ signal }) => call('desk_letters_of', { applications: [application] }, signal),
    refetchOnWindowFocus: 'always',
  })
  const article = useRef<HTMLElement>(null)
  const { data: reading } = useReading()
  const isOrphaned = letters?.some(({ id, state }) => id === change.id && state === 'draft') === false
  const isShown = isOrphaned && reading?.blind === false
  // The form has disappeared, possibly with the focus.
  useEffect(() => {
    // The field that was typed into has disappeared.
    if (isShown && document.activeElement?.matches('body, h1')) article.current?.focus()
  }, [isShown])
  if (!isShown) return null
  return (
    <DraftArticle
      ref={article}
      tabIndex={-1}
      recipient={change}
      isAtApplication={isAtApplication}
      heading="What you entered"
    >
      <p className="layout-notice error" role="alert">
        This is no longer a draft: somebody sent it, removed it or changed the decision. Your text is not
        saved. Copy it if you need it.
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
