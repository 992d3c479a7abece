import { Link } from 'wouter'

import type { LettersOverview } from '../../../client/desk.ts'
import { templateOf } from './places.ts'
import { nameOfOccasion } from './words.ts'

/** What letters say on each occasion. */
export function TemplateList({ templates }: Pick<LettersOverview, 'templates'>) {
  return (
    <ul className="plain">
      {templates.map(({ occasion, subject }) => (
        <li key={occasion}>
          <Link href={templateOf(occasion)}>{nameOfOccasion(occasion)}</Link>{' '}
          <span className="quietly">{subject}</span>
        </li>
      ))}
    </ul>
  )
}
