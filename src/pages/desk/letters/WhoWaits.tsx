import { Link } from 'wouter'

import type { Count, LettersOverview } from '../../../client/desk.ts'
import { draftsOf } from './places.ts'
import { inDigits, isOfDecision, nameOfOccasion } from './words.ts'

/** Of each occasion how many drafts nobody has sent. */
export function WhoWaits({ templates }: Pick<LettersOverview, 'templates'>) {
  const waiting = templates.filter(({ drafts }) => drafts.count > 0)
  if (waiting.length === 0)
    return <p className="quietly">Nobody. Whoever is accepted, waitlisted or declined will stand here.</p>
  return (
    <ul className="plain">
      {waiting.map(({ occasion, drafts }) => (
        <li key={occasion} className="row">
          <span>
            {isOfDecision(occasion)
              ? `${inDigits(drafts)} ${occasion} ${drafts.count === 1 ? 'is' : 'are'} not written to`
              : `${inDigits(drafts)} ${drafts.count === 1 ? 'draft' : 'drafts'} of “${occasion}”`}
          </span>
          <Link
            href={draftsOf(occasion)}
            className="button"
            aria-label={`${review(drafts)}: ${nameOfOccasion(occasion)}`}
          >
            {review(drafts)}
          </Link>
        </li>
      ))}
    </ul>
  )
}

function review(drafts: Count) {
  return `Review ${inDigits(drafts)} ${drafts.count === 1 ? 'draft' : 'drafts'}`
}
