import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import { applicationOf } from '../kit/route.ts'
import { useDesk } from '../kit/useDesk.tsx'
import { nameOfLetter } from '../letters/letters.ts'
import type { DraftChange } from './DraftShow.tsx'

interface DraftLeftProps {
  id: string
  change: DraftChange
  /** Whether it is shown at the application that the draft was for. */
  isAtApplication?: boolean
  onDiscard: () => void
}

/**
 * Shows what was entered for a draft that was sent or removed meanwhile, so that it can be copied. Shows nothing where the
 * draft is only further down in the list.
 */
export function DraftLeft({ id, change, isAtApplication = false, onDiscard }: DraftLeftProps) {
  const { value, application = '', name: kept = null } = change
  const { data: letters } = useQuery(useDesk().lettersOf(application))
  const article = useRef<HTMLElement>(null)
  const isLeft = letters?.some((letter) => letter.id === id && letter.state === 'draft') === false
  // The form in which it was entered disappeared, perhaps with the focus.
  useEffect(() => {
    if (isLeft && document.activeElement === document.body) article.current?.focus()
  }, [isLeft])
  if (!isLeft) return null
  const name = nameOfLetter({ name: kept })
  return (
    <article
      ref={article}
      className={isAtApplication ? 'draft' : 'sheet draft'}
      aria-labelledby={`draft-${id}`}
      tabIndex={-1}
    >
      {isAtApplication ? (
        <h3 id={`draft-${id}`}>What you entered</h3>
      ) : (
        <h2 id={`draft-${id}`}>
          <a href={applicationOf(application)}>{name}</a>
        </h2>
      )}
      <p className="notice error" role="alert">
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
