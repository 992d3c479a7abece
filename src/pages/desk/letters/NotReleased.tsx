import { Link } from 'wouter'

import type { Letter, ReleaseOutcome } from '../../../client/desk.ts'
import { countOf, nameOfLetter } from './words.ts'

/** A draft that was to leave and does not. */
export interface Unreleased {
  letter: Letter
  outcome: Exclude<ReleaseOutcome['outcome'], 'released'>
}

const reasons: Record<Unreleased['outcome'], string> = {
  changed: 'it changed since you read it. Please read it again.',
  missing: 'it quotes an answer that was left blank.',
  long: 'filled in it is longer than a letter may be: edit it for them alone.',
  again: 'they were sent this before.',
  gone: 'it is no draft any more: somebody sent or removed it, or decided otherwise.',
}

/** What was not released, and why. */
export function NotReleased({ unreleased }: { unreleased: readonly Unreleased[] }) {
  if (unreleased.length === 0) return null
  return (
    <div className="notice error" role="alert">
      <p>{countOf(unreleased.length, 'letter')} not sent:</p>
      <ul>
        {unreleased.map(({ letter, outcome }) => (
          <li key={letter.id}>
            <Link href={`/applications/${letter.application}`}>
              <bdi>{nameOfLetter(letter)}</bdi>
            </Link>
            : {reasons[outcome]}
          </li>
        ))}
      </ul>
    </div>
  )
}
