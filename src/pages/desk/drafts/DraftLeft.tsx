import { useQuery } from '@tanstack/react-query'

import { applicationOf } from '../kit/places.ts'
import { useDesk } from '../kit/useDesk.tsx'
import { nameOfLetter } from '../letters/letters.ts'
import type { DraftChange } from './DraftEdit.tsx'

interface DraftLeftProps {
  id: string
  change: DraftChange
  onDiscard: () => void
}

/** What was entered for a draft that is none any more: it can still be copied. Nothing where it only is further down. */
export function DraftLeft({ id, change, onDiscard }: DraftLeftProps) {
  const { value, application = '', name: kept = null } = change
  const { data: letters } = useQuery(useDesk().lettersOf(application))
  if (!letters || letters.some((letter) => letter.id === id && letter.state === 'draft')) return null
  const name = nameOfLetter({ name: kept })
  return (
    <article className="sheet draft" aria-labelledby={`draft-${id}`}>
      <h2 id={`draft-${id}`}>
        <a href={applicationOf(application)}>{name}</a>
      </h2>
      <p className="notice error">
        This is no draft any more: somebody sent or removed it, or decided otherwise. What you entered is
        still here and not saved.
      </p>
      <div className="letter">
        <p className="subject">{value.subject}</p>
        <p className="body">{value.body}</p>
      </div>
      <button className="quiet" aria-label={`Discard: ${name}`} onClick={onDiscard}>
        Discard
      </button>
    </article>
  )
}
