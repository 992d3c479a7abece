import { Link } from 'wouter'

import type { CallDesk } from '../../../client/desk.ts'
import type { Edit } from './edits.ts'
import { useLettersOf } from './letters.ts'
import { nameOfLetter } from './words.ts'

interface LeftDraftProps {
  callDesk: CallDesk
  id: string
  edit: Edit
  onDiscard: () => void
}

/** What was entered for a draft that is none any more: it can still be copied. Nothing where it only is further down. */
export function LeftDraft({ callDesk, id, edit, onDiscard }: LeftDraftProps) {
  const { letters, isRead } = useLettersOf(callDesk, edit.application)
  if (!isRead || letters.some((letter) => letter.id === id && letter.state === 'draft')) return null
  const name = nameOfLetter(edit)
  return (
    <article className="sheet draft" aria-labelledby={`draft-${id}`}>
      <h2 id={`draft-${id}`}>
        <Link href={`/applications/${edit.application}`}>{name}</Link>
      </h2>
      <p className="notice error">
        This is no draft any more: somebody sent or removed it, or decided otherwise. What you entered is
        still here and not saved.
      </p>
      <div className="letter">
        <p className="subject">{edit.subject}</p>
        <p className="body">{edit.body}</p>
      </div>
      <button className="quiet" aria-label={`Discard: ${name}`} onClick={onDiscard}>
        Discard
      </button>
    </article>
  )
}
