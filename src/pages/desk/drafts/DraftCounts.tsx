import type { Count, LettersOverview } from '../../../client/desk.ts'
import { upTo } from '../kit/format.ts'
import { hrefOf } from '../kit/places.ts'
import { isOfDecision, nameOfOccasion } from '../letters/letters.ts'

/** Of each occasion how many drafts nobody has sent. */
export function DraftCounts({ templates, personal }: Pick<LettersOverview, 'templates' | 'personal'>) {
  const waiting = [...templates, { occasion: '', drafts: personal }].filter(({ drafts }) => drafts.count > 0)
  if (waiting.length === 0)
    return <p className="quietly">Nobody. Whoever is accepted, waitlisted or declined will stand here.</p>
  return (
    <ul className="plain">
      {waiting.map(({ occasion, drafts }) => (
        <li key={occasion} className="row">
          <span>
            {upTo(drafts)} {wordsOf(occasion, drafts.count === 1)}
          </span>
          <a
            href={hrefOf({ screen: 'drafts', occasion })}
            className="button"
            aria-label={`${review(drafts)}: ${nameOfOccasion(occasion)}`}
          >
            {review(drafts)}
          </a>
        </li>
      ))}
    </ul>
  )
}

function wordsOf(occasion: string, isOne: boolean) {
  if (isOfDecision(occasion))
    return `${occasion} ${isOne ? 'applicant waits' : 'applicants wait'} for their letter`
  const drafts = isOne ? 'draft' : 'drafts'
  return occasion === ''
    ? `${drafts} without a template, written to one person`
    : `${drafts} of “${occasion}”`
}

function review(drafts: Count) {
  return `Review ${upTo(drafts)} ${drafts.count === 1 ? 'draft' : 'drafts'}`
}
