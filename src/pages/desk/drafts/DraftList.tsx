import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { Letter, LettersOverview } from '../../../client/desk/letters.ts'
import { countOf } from '../kit/format.ts'
import { hrefOf } from '../kit/route.ts'
import { Back, MoreButton, Screen } from '../kit/Screen.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { isCarried, isSendable, nameOfOccasion } from '../letters/letters.ts'
import { UndoSend } from '../letters/UndoSend.tsx'
import { DraftLeft } from './DraftLeft.tsx'
import { DraftShow, useDraftChanges } from './DraftShow.tsx'
import { DraftSend, DraftsUnsent, type Unsent } from './DraftSend.tsx'

/** The drafts of one occasion, each as it would be sent, with what can be done: change, remove and send them. */
export function DraftList({ occasion }: { occasion: string }) {
  const desk = useDesk()
  const { data: overview } = useQuery(desk.letters())
  const query = useInfiniteQuery(desk.drafts(occasion))
  const [unsent, setUnsent] = useState<readonly Unsent[]>([])
  const { changes, keptOf } = useDraftChanges(occasion)
  const isByHand = overview !== undefined && !isCarried(occasion, overview.postman)
  return (
    <Screen
      title={`Drafts: ${nameOfOccasion(occasion)}`}
      query={query}
      nav={
        <Back label="In the letters" to={{ screen: 'letters' }}>
          {occasion !== '' && (
            <a href={hrefOf({ screen: 'template', occasion })} className="button">
              Template
            </a>
          )}
        </Back>
      }
      head={
        <>
          <UndoSend />
          <DraftsUnsent unsent={unsent} />
        </>
      }
    >
      {({ pages }) => {
        const drafts = pages.flatMap(({ letters }) => letters)
        return (
          <>
            {drafts.length === 0 && <p>No drafts here.</p>}
            {drafts.length > 0 && overview && (
              <div className="row send">
                <Sending {...{ drafts, overview, isByHand }} onSent={setUnsent} />
                {query.hasNextPage && <span className="quietly">There are more below than are shown.</span>}
              </div>
            )}
            {Object.entries(changes)
              .filter(([id]) => !drafts.some((letter) => letter.id === id))
              .map(([id, change]) => (
                <DraftLeft key={id} id={id} change={change} onDiscard={() => keptOf(id)[1](null)} />
              ))}
            {drafts.map((letter) => (
              <DraftShow key={letter.id} letter={letter} isByHand={isByHand} kept={keptOf(letter.id)} />
            ))}
            <MoreButton query={query} />
          </>
        )
      }}
    </Screen>
  )
}

interface SendingProps {
  drafts: readonly Letter[]
  overview: LettersOverview
  isByHand: boolean
  onSent: (unsent: readonly Unsent[]) => void
}

/** Says how the drafts are sent, and which of them cannot be sent. */
function Sending({ drafts, overview, isByHand, onSent }: SendingProps) {
  const sendable = drafts.filter(isSendable)
  const held = drafts.filter((draft) => !isSendable(draft))
  return (
    <>
      {isByHand && (
        <p className="quietly">
          No server sends mail from here yet: open each letter in your own mail program, then note here that
          you sent it.
        </p>
      )}
      {!isByHand && sendable.length > 0 && (
        <DraftSend drafts={sendable} holdSeconds={overview.settings.hold_seconds} onSent={onSent} />
      )}
      {!isByHand && !overview.postman.is_there && (
        <span className="quietly">
          No mail leaves from here: an automation is told of the decisions, and writes to applicants.
        </span>
      )}
      {held.length > 0 && (
        <span className="quietly">
          {countOf(held.length, 'draft')} cannot be sent: the reason stands below{' '}
          {held.length === 1 ? 'it' : 'each'}.
        </span>
      )}
    </>
  )
}
