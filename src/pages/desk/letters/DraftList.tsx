import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { Back } from '../data/links.tsx'
import { hrefOf } from '../data/route.ts'
import { MoreButton } from '../kit/MoreButton.tsx'
import { Screen } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { usePlaces } from '../data/usePlaces.ts'
import { isAmong, isSentByServer, nameOfOccasion, noSiteWords } from './letters.ts'
import { draftPages } from './letter-pages.ts'
import { UndoSend } from './UndoSend.tsx'
import { DraftReview } from './DraftReview.tsx'
import { DraftSend, DraftsUnsent, type Unsent } from './DraftSend.tsx'

/** The screen of the drafts of one occasion, or (null) of all decisions, to read, edit, remove and send. */
export function DraftList({ occasion }: { occasion: string | null }) {
  const desk = useDesk()
  const query = useInfiniteQuery({
    ...draftPages(desk, occasion),
    select: ({ pages }) => pages.flatMap(({ letters }) => letters),
  })
  // Waits for the drafts, because their response includes the overview.
  const { data: overview } = useQuery({ ...desk.letters(), enabled: query.data !== undefined })
  const [unsent, setUnsent] = useState<readonly Unsent[]>([])
  // The dialog that sends acceptances shows the places at once.
  usePlaces(undefined, isAmong('accepted', occasion))
  const isByHand = overview !== undefined && !isSentByServer(occasion ?? 'accepted', overview.postman)
  const counts =
    overview === undefined ? [] : [{ occasion: '', drafts: overview.personal }, ...overview.templates]
  const hasOthers = counts.some((each) => !isAmong(each.occasion, occasion) && each.drafts.count > 0)
  return (
    <Screen
      title={occasion === null ? 'Drafts of decisions' : `Drafts: ${nameOfOccasion(occasion)}`}
      query={query}
      nav={
        <Back label="In the letters" to={{ screen: 'letters' }}>
          {occasion && (
            <a href={hrefOf({ screen: 'template', occasion })} className="control-link">
              Template
            </a>
          )}
        </Back>
      }
      head={
        <>
          <UndoSend />
          <DraftsUnsent unsent={unsent} />
          {overview?.has_no_site === true && (occasion ?? 'accepted') === 'accepted' && (
            <p className="layout-notice error">{noSiteWords}</p>
          )}
          {isByHand && (
            <p className="layout-quiet">
              This site has no mail server yet. Open each letter in your own mail program, then note here that
              you sent it.
            </p>
          )}
          {!isByHand && overview?.postman.is_there === false && (
            <p className="layout-quiet">
              This site sends no email itself. It passes decisions to an automation, which writes to
              applicants.
            </p>
          )}
        </>
      }
    >
      {(drafts) => (
        <DraftReview {...{ occasion, drafts, isByHand, hasOthers }} more={<MoreButton query={query} />}>
          {(ticked) => overview && <DraftSend drafts={ticked} {...{ overview, onSent: setUnsent }} />}
        </DraftReview>
      )}
    </Screen>
  )
}
