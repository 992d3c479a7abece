import type { Count, LettersOverview } from '../../../client/desk.ts'
import { upTo } from '../kit/format.ts'
import { hrefOf } from '../kit/places.ts'
import { isOfDecision, nameOfOccasion } from '../letters/letters.ts'

/** Of each occasion how many drafts nobody has sent. */
export function DraftCounts({ templates }: Pick<LettersOverview, 'templates'>) {
  const waiting = templates.filter(({ drafts }) => drafts.count > 0)
  if (waiting.length === 0)
    return <p className="quietly">Nobody. Whoever is accepted, waitlisted or declined will stand here.</p>
  return (
    <ul className="plain">
      {waiting.map(({ occasion, drafts }) => (
        <li key={occasion} className="row">
          <span>
            {isOfDecision(occasion)
              ? `${upTo(drafts)} ${occasion} ${drafts.count === 1 ? 'applicant waits' : 'applicants wait'} for their letter`
              : `${upTo(drafts)} ${drafts.count === 1 ? 'draft' : 'drafts'} of “${occasion}”`}
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

function review(drafts: Count) {
  return `Review ${upTo(drafts)} ${drafts.count === 1 ? 'draft' : 'drafts'}`
}
