import type { ReactNode } from 'react'

import { rsvpStates, statuses } from '../../../application/statuses.ts'
import type { HistoryEntry } from '../../../client/desk/applications.ts'
import { countOf, dayOf } from '../kit/format.ts'
import { LongText } from '../kit/LongText.tsx'
import { nameOfOccasion } from '../letters/letters.ts'

/** The paragraph for an entry of an application's history. */
export function HistoryText({ entry }: { entry: HistoryEntry }) {
  const isNote = entry.kind === 'note'
  return (
    <p className={isNote ? 'application-event application-note' : 'application-event'}>{wordsOf(entry)}</p>
  )
}

function wordsOf(entry: HistoryEntry): ReactNode {
  switch (entry.kind) {
    case 'status':
      return (
        <>
          {statuses[entry.detail.status]}{' '}
          <span className="layout-quiet">(was {statuses[entry.detail.former]})</span>
        </>
      )
    case 'note':
      return <LongText text={entry.detail.note} />
    case 'revealed':
      return 'Revealed name, email, phone, LinkedIn and company'
    case 'address':
      return `Letters go to ${entry.detail.address ?? 'another address'} from now on`
    case 'told': {
      const { way, occasion } = entry.detail
      return `${way === 'mail' ? 'Letter ' : 'To the automation: '}“${nameOfOccasion(occasion)}” contacted another way`
    }
    case 'added':
      return 'Added by hand, without an application'
    case 'returned':
      return `Letter “${nameOfOccasion(entry.detail.occasion)}” came back`
    case 'answer': {
      const { answer } = entry.detail
      return `Answer: ${answer === null ? 'none' : rsvpStates[answer]}`
    }
    case 'withdrawal':
      return `Application ${entry.detail.is_withdrawn ? 'withdrawn' : 'restored'}`
    case 'questions':
      return `${countOf(entry.detail.changes, 'answer')} to questions changed`
    case 'kept':
      return `Deadline: ${dayOf(entry.detail.until)}`
    case 'hold': {
      const { reason } = entry.detail
      if (reason === null) return 'No longer kept'
      return reason === undefined ? 'Kept' : `Kept: ${reason}`
    }
    case 'link':
      return `Their link was put into the letter “${nameOfOccasion(entry.detail.occasion)}” by hand`
  }
}
