import { rsvpStates, statuses } from '../../../application/statuses.ts'
import type { HistoryEntry } from '../../../client/desk/applications.ts'
import { countOf, dayOf } from '../kit/format.ts'
import { LongText } from '../kit/LongText.tsx'
import { nameOfOccasion } from '../letters/letters.ts'

/** The words for an entry of an application's history. */
export function HistoryText({ entry }: { entry: HistoryEntry }) {
  switch (entry.kind) {
    case 'status':
      return (
        <p>
          {statuses[entry.detail.status]}{' '}
          <span className="layout-quiet">(was {statuses[entry.detail.former]})</span>
        </p>
      )
    case 'note':
      return (
        <p className="application-note">
          <LongText text={entry.detail.note} />
        </p>
      )
    case 'revealed':
      return <p>Revealed name, email, phone, LinkedIn and company</p>
    case 'address':
      return <p>Letters go to {entry.detail.address ?? 'another address'} from now on</p>
    case 'told':
      return (
        <p>
          {entry.detail.way === 'mail' ? 'Letter ' : 'To the automation: '}“
          {nameOfOccasion(entry.detail.occasion)}” contacted another way
        </p>
      )
    case 'returned':
      return <p>Letter “{nameOfOccasion(entry.detail.occasion)}” came back</p>
    case 'answer': {
      const { answer } = entry.detail
      return <p>Answer: {answer === null ? 'none' : rsvpStates[answer]}</p>
    }
    case 'questions':
      return <p>{countOf(entry.detail.changes, 'answer')} to questions changed</p>
    case 'kept':
      return <p>Deadline: {dayOf(entry.detail.until)}</p>
    case 'hold': {
      const { reason } = entry.detail
      if (reason === null) return <p>No longer kept</p>
      return <p>Kept{reason !== undefined && `: ${reason}`}</p>
    }
    case 'link':
      return <p>Their link was put into the letter “{nameOfOccasion(entry.detail.occasion)}” by hand</p>
  }
}
