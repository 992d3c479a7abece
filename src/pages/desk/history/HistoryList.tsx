import { useInfiniteQuery } from '@tanstack/react-query'

import type { GeneralHappening } from '../../../client/desk/retreat.ts'
import { doorWordsOf } from '../door/door.ts'
import { countOf, momentOf } from '../kit/format.ts'
import { placesWordsOf } from '../places/places.ts'
import { MoreButton, Screen } from '../kit/Screen.tsx'
import { useDesk } from '../kit/useDesk.tsx'

/** The screen with changes of the door, letters, seats and blind reading, and with erasures, newest first. */
export function HistoryList() {
  const query = useInfiniteQuery({
    ...useDesk().history(),
    select: ({ pages }) => pages.flatMap(({ happenings }) => happenings),
  })
  return (
    <Screen title="History" query={query}>
      {(happenings) =>
        happenings.length === 0 ? (
          <p className="layout-quiet">Nothing yet. The door has been open from the beginning.</p>
        ) : (
          <>
            <ul className="layout-lines layout-sheet history-list">
              {happenings.map((happening) => (
                <li key={happening.id}>
                  {wordsOf(happening)}
                  <span className="layout-quiet">
                    {happening.author}, <time dateTime={happening.at}>{momentOf(happening.at)}</time>
                  </span>
                </li>
              ))}
            </ul>
            <MoreButton query={query} />
          </>
        )
      }
    </Screen>
  )
}

/** An event that belongs to no application, in a few words. */
export function wordsOf(happening: GeneralHappening): string {
  switch (happening.kind) {
    case 'door':
      return doorWordsOf(happening.detail)
    case 'erased':
      return `${countOf(happening.detail.applications, 'application')} erased`
    case 'blind':
      return `${happening.detail.on ? 'Started' : 'Stopped'} reading blind`
    case 'places':
      return placesWordsOf(happening.detail)
    case 'letters':
      return letterWordsOf(happening.detail)
  }
}

function letterWordsOf(detail: Extract<GeneralHappening, { kind: 'letters' }>['detail']) {
  const { template, removed, stopped, receipts, reply_to: replyTo } = detail
  if (template !== undefined) return `Template of letters changed: “${template}”`
  if (removed !== undefined) return `Template of letters removed: “${removed}”`
  if (stopped !== undefined) return stopped ? 'All letters stopped' : 'Sending resumed'
  if (receipts !== undefined) return `Receipts switched ${receipts ? 'on' : 'off'}`
  return replyTo ? `Replies to letters go to ${replyTo}` : 'Replies to letters go to the sender'
}
