import { useState } from 'react'
import { Link } from 'wouter'

import type { CallDesk } from '../../../client/desk.ts'
import { beginAt } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { DraftSheet } from './DraftSheet.tsx'
import { useEdits } from './edits.ts'
import { LeavingBars } from './LeavingBars.tsx'
import { LeftDraft } from './LeftDraft.tsx'
import { useDrafts, useLetters } from './letters.ts'
import { MoreButton } from './MoreButton.tsx'
import { NotReleased, type Unreleased } from './NotReleased.tsx'
import { templateOf } from './places.ts'
import { SendDialog } from './SendDialog.tsx'
import { countOf, isCarried, isSendable, nameOfOccasion } from './words.ts'
import { useTitle } from '../title.ts'

interface DraftsScreenProps {
  callDesk: CallDesk
  occasion: string
}

/** The drafts of one occasion, each as it would be sent: read, changed, taken away, and sent. */
export function DraftsScreen({ callDesk, occasion }: DraftsScreenProps) {
  useTitle(`Drafts: ${nameOfOccasion(occasion)}`)
  const { data: overview } = useLetters(callDesk)
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useDrafts(callDesk, occasion)
  const [unreleased, setUnreleased] = useState<readonly Unreleased[]>([])
  const [edits, keepEdit] = useEdits(occasion)
  const drafts = data?.pages.flatMap(({ letters }) => letters)
  const sendable = drafts?.filter(isSendable) ?? []
  const isByHand = overview !== undefined && !isCarried(occasion, overview.postman)
  const held = drafts?.filter((draft) => !isSendable(draft)) ?? []
  return (
    <>
      <nav className="row application-nav" aria-label="In the letters">
        <Link href="/letters" className="button">
          Back
        </Link>
        <Link href={templateOf(occasion)} className="button">
          Template
        </Link>
      </nav>
      <h1 ref={beginAt} tabIndex={-1}>
        Drafts: {nameOfOccasion(occasion)}
      </h1>
      <LeavingBars callDesk={callDesk} />
      <NotReleased unreleased={unreleased} />
      {error && (
        <p className="notice error" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      {!drafts && !error && <p aria-busy="true">Loading…</p>}
      {drafts?.length === 0 && <p>No drafts here.</p>}
      {drafts && drafts.length > 0 && overview && (
        <div className="row send">
          {isByHand ? (
            <p className="quietly">
              Nobody carries letters yet: open each in your own mail program, and note here that you sent it.
            </p>
          ) : (
            sendable.length > 0 && (
              <SendDialog
                callDesk={callDesk}
                drafts={sendable}
                holdSeconds={overview.settings.hold_seconds}
                onReleased={setUnreleased}
              />
            )
          )}
          {!isByHand && !overview.postman.is_there && (
            <span className="quietly">
              No mail leaves from here: an automation is told of the decisions, and writes to applicants.
            </span>
          )}
          {held.length > 0 && (
            <span className="quietly">
              {countOf(held.length, 'draft')} {held.length === 1 ? 'quotes' : 'quote'} a blank answer
              {held.some(({ is_long }) => is_long) && ' or very much'} and cannot be sent so.
            </span>
          )}
          {hasNextPage && <span className="quietly">There are more below than are shown.</span>}
        </div>
      )}
      {drafts &&
        Object.entries(edits)
          .filter(([id]) => !drafts.some((letter) => letter.id === id))
          .map(([id, edit]) => (
            <LeftDraft
              key={id}
              callDesk={callDesk}
              id={id}
              edit={edit}
              onDiscard={() => keepEdit(id, null)}
            />
          ))}
      {drafts?.map((letter) => (
        <DraftSheet
          key={letter.id}
          callDesk={callDesk}
          letter={letter}
          isByHand={isByHand}
          edit={edits[letter.id] ?? null}
          onEdit={(edit) => keepEdit(letter.id, edit)}
        />
      ))}
      {hasNextPage && <MoreButton isUnderWay={isFetchingNextPage} onPress={() => void fetchNextPage()} />}
    </>
  )
}
