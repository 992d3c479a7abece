import { useInfiniteQuery } from '@tanstack/react-query'

import { organiserChangeWords } from '../../../application/organiser-change.ts'
import type { GeneralHistoryEntry, HistoryPage } from '../../../client/desk/retreat.ts'
import { doorWordsOf } from '../door/door.ts'
import { countOf, momentOf } from '../kit/format.ts'
import { polled } from '../data/queries.ts'
import { placesWordsOf, retreatWordsOf } from '../places/places.ts'
import { retentionWordsOf } from '../retention/retention.ts'
import { MoreButton } from '../kit/MoreButton.tsx'
import { Screen } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'

/** The screen of events that belong to no single application, such as changes of the door and erasures, newest first. */
export function HistoryList() {
  const { call } = useDesk()
  const query = useInfiniteQuery({
    queryKey: ['history'],
    queryFn: ({ pageParam: after, signal }) => call('desk_history', { after }, signal),
    initialPageParam: null as HistoryPage['next'],
    getNextPageParam: ({ next }) => next,
    ...polled,
    select: ({ pages }) => pages.flatMap(({ happenings }) => happenings),
  })
  return (
    <Screen title="History" query={query}>
      {(happenings) =>
        happenings.length === 0 ? (
          <p className="layout-quiet">No changes yet. Applications have always been open.</p>
        ) : (
          <>
            <ul className="layout-lines layout-sheet history-list">
              {happenings.map((entry) => (
                <li key={entry.id}>
                  {wordsOf(entry)}
                  <span className="layout-quiet">
                    {authorOf(entry)}, <time dateTime={entry.at}>{momentOf(entry.at)}</time>
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

/** The details of one kind of event. */
type EntryDetail<Kind> = Extract<GeneralHistoryEntry, { kind: Kind }>['detail']

/** The author of an event, or `automatically` if a server erased data that was due. */
function authorOf({ author }: GeneralHistoryEntry) {
  return author === 'server' ? 'automatically' : author
}

/** An event that belongs to no application, in a few words. */
export function wordsOf(entry: GeneralHistoryEntry): string {
  switch (entry.kind) {
    case 'door':
      return doorWordsOf(entry.detail)
    case 'erased':
      return `${countOf(entry.detail.applications, 'application')} erased`
    case 'blind':
      return `${entry.detail.on ? 'Started' : 'Stopped'} reading blind`
    case 'organiser':
      return organiserChangeWords(entry.detail)
    case 'places':
      return 'venue' in entry.detail ? retreatWordsOf(entry.detail) : placesWordsOf(entry.detail)
    case 'edition':
      return editionWordsOf(entry.detail)
    case 'retention':
      return 'erased' in entry.detail
        ? `${countOf(entry.detail.erased, 'application')} erased after the retreat`
        : retentionWordsOf(entry.detail)
    case 'questions':
      return 'erased' in entry.detail
        ? `${countOf(entry.detail.erased, 'private answer')} erased`
        : `Questions to guests changed: ${countOf(entry.detail.questions, 'question')}`
    case 'page':
      return 'Changed what the page says'
    case 'letters':
      return letterWordsOf(entry.detail)
  }
}

function editionWordsOf({ edition, name, is_renamed: isRenamed }: EntryDetail<'edition'>) {
  if (!isRenamed) return `Began the retreat ${name}`
  return `Retreat ${edition} ${name === '' ? 'has no name any more' : `is named ${name}`}`
}

function letterWordsOf(detail: EntryDetail<'letters'>) {
  const { template, removed, stopped, receipts, confirmations, reply_to: replyTo } = detail
  if (template !== undefined) return `Template of letters changed: “${template}”`
  if (removed !== undefined) return `Template of letters removed: “${removed}”`
  if (stopped !== undefined) return stopped ? 'All letters stopped' : 'Sending resumed'
  if (receipts !== undefined) return `Receipts switched ${receipts ? 'on' : 'off'}`
  if (confirmations !== undefined) return `Confirmations switched ${confirmations ? 'on' : 'off'}`
  return replyTo ? `Replies to letters go to ${replyTo}` : 'Replies to letters go to the sender'
}
