import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import type { Listed } from '../../../client/desk/applications.ts'
import { announce } from '../kit/announce.tsx'
import { Field } from '../kit/Field.tsx'
import { nameOf, shortMomentOf } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { nameOfLetter, siteOfDesk } from '../letters/letters.ts'
import { LetterText } from '../letters/LetterText.tsx'

/** Milliseconds without a key after which what is typed is looked at. */
const pause = 400
/** Applications that are offered at once. */
const mostOffered = 5

interface TemplatePreviewProps {
  occasion: string
  subject: string
  body: string
}

/** A text as an applicant would read it: the newest one, or whoever is chosen. */
export function TemplatePreview({ occasion, subject, body }: TemplatePreviewProps) {
  const desk = useDesk()
  const [chosen, setChosen] = useState<Listed | null>(null)
  const { data: overview } = useQuery(desk.letters())
  const { data: preview, error } = useQuery(
    desk.preview({
      occasion,
      subject: usePaused(subject),
      body: usePaused(body),
      ...(chosen && { application: chosen.id }),
      // Where a server sends letters, either it knows the site's address or nobody does.
      ...(overview?.postman.is_there === false && { site: siteOfDesk() }),
    }),
  )
  const test = useDeskAct('desk_send_test', ({ to }) => announce(`A test leaves for ${to}.`))
  return (
    <Sheet title="Preview" className="preview">
      <Problem error={error} />
      {(preview || chosen) && (
        <PreviewWith chosen={chosen} isBlind={preview?.name === null} onChoose={setChosen} />
      )}
      {preview === null && (
        <p className="quietly">
          {chosen ? 'This application is gone.' : 'There is no application to fill it with yet.'}
        </p>
      )}
      {preview && (
        <>
          {chosen === null && (
            <p className="quietly">
              With the newest application: <bdi>{nameOfLetter(preview)}</bdi>
            </p>
          )}
          <LetterText text={preview} />
          {preview.has_no_site === true && (
            <p className="notice error">
              Nobody knows the site’s address (SITE_URL), so the paragraph with the link is left out.
            </p>
          )}
          {overview?.postman.is_there && (
            <button
              className="quiet"
              aria-disabled={test.isPending}
              onClick={() => test.press({ occasion, subject, body, application: preview.application })}
            >
              Send me a test
            </button>
          )}
          <Problem error={test.error} />
        </>
      )}
    </Sheet>
  )
}

interface PreviewWithProps {
  /** Whose answers the preview shows; null where nobody chose them. */
  chosen: Listed | null
  /** Who reads blind searches what is not hidden. */
  isBlind: boolean
  onChoose: (application: Listed | null) => void
}

/** Finds an application whose answers the preview is to show. */
function PreviewWith({ chosen, isBlind, onChoose }: PreviewWithProps) {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const search = usePaused(typed.trim())
  const isAsked = typed.trim() !== '' && search !== ''
  const { data: found, error } = useQuery({ ...useDesk().found(search, mostOffered), enabled: isAsked })
  const offered = isAsked ? found?.applications.slice(0, mostOffered) : undefined
  const choose = (application: Listed | null) => {
    onChoose(application)
    setTyped('')
    announce(application === null ? 'With the newest application' : `With ${nameOf(application)}`)
    // The pressed button disappears.
    field.current?.focus()
  }
  return (
    <div className="preview-with">
      <Field
        ref={field}
        label="Preview with"
        hint={`${isBlind ? 'A word of an answer' : 'A name or an e-mail'}; the newest application otherwise.`}
        type="search"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onText={setTyped}
      />
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
      <Problem error={isAsked ? error : null} />
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

/** What is typed, once nobody types. */
function usePaused(typed: string): string {
  const [text, setText] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), pause)
    return () => clearTimeout(timer)
  }, [typed])
  return text
}
