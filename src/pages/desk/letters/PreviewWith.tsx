import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import type { CallDesk, Listed } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { shortMomentOf } from '../dates.ts'
import { readPage } from '../list/applications.ts'
import { nameOf } from '../list/names.ts'
import { sentenceOf } from '../messages.ts'
import { usePaused } from './use-paused.ts'

/** Applications that are offered at once. */
const mostOffered = 5

interface PreviewWithProps {
  callDesk: CallDesk
  /** Whose answers the preview shows; null where nobody chose them. */
  chosen: Listed | null
  /** Who reads blind searches what is not hidden. */
  isBlind: boolean
  onChoose: (application: Listed | null) => void
}

/** Finds an application whose answers the preview is to show. */
export function PreviewWith({ callDesk, chosen, isBlind, onChoose }: PreviewWithProps) {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const search = usePaused(typed.trim())
  const isAsked = typed.trim() !== '' && search !== ''
  const { data: found, error } = useQuery({
    queryKey: ['letters', 'found', search],
    queryFn: ({ signal }) => readPage(callDesk, { search }, null, signal, mostOffered),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  })
  const offered = isAsked ? found?.applications.slice(0, mostOffered) : undefined
  const choose = (application: Listed | null) => {
    onChoose(application)
    setTyped('')
    announce(application === null ? 'With the newest application' : `With ${nameOf(application)}`)
    // The button that was pressed goes.
    field.current?.focus()
  }
  return (
    <div className="preview-with">
      <div className="field">
        <label htmlFor="preview-with">Preview with</label>
        <input
          ref={field}
          id="preview-with"
          type="search"
          autoComplete="off"
          spellCheck={false}
          aria-describedby="preview-with-hint"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <p className="hint" id="preview-with-hint">
          {isBlind ? 'A word of an answer' : 'A name or an e-mail'}; the newest application otherwise.
        </p>
      </div>
      <div aria-live="polite">
        {offered?.length === 0 && <p>Nothing was found.</p>}
        {offered && offered.length > 0 && (
          <ul className="plain found">
            {offered.map((application) => (
              <li key={application.id}>
                <button className="quiet" onClick={() => choose(application)}>
                  <bdi>{nameOf(application)}</bdi>{' '}
                  <span className="quietly">{shortMomentOf(application.created_at)}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      {error && isAsked && <p role="alert">{sentenceOf(error)}</p>}
      {chosen && (
        <p className="row">
          With <bdi>{nameOf(chosen)}</bdi>
          <button className="quiet" onClick={() => choose(null)}>
            Newest
          </button>
        </p>
      )}
    </div>
  )
}
