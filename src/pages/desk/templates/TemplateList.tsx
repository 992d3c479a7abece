import type { LettersOverview } from '../../../client/desk.ts'
import { hrefOf } from '../kit/places.ts'
import { nameOfOccasion } from '../letters/letters.ts'

/** What letters say on each occasion. */
export function TemplateList({ templates }: Pick<LettersOverview, 'templates'>) {
  return (
    <ul className="plain">
      {templates.map(({ occasion, subject }) => (
        <li key={occasion}>
          <a href={hrefOf({ screen: 'template', occasion })}>{nameOfOccasion(occasion)}</a>{' '}
          <span className="quietly">{subject}</span>
        </li>
      ))}
    </ul>
  )
}
