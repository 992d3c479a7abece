import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { sentenceOf } from '../messages.ts'
import { LetterText } from './LetterText.tsx'
import { nameOfLetter } from './words.ts'

/** Milliseconds without a key after which what is typed is filled in. */
const pause = 400

interface TemplatePreviewProps {
  callDesk: CallDesk
  occasion: string
  subject: string
  body: string
}

/** A text as the newest applicant would read it. */
export function TemplatePreview({ callDesk, occasion, subject, body }: TemplatePreviewProps) {
  const [text, setText] = useState({ subject, body })
  useEffect(() => {
    const timer = setTimeout(() => setText({ subject, body }), pause)
    return () => clearTimeout(timer)
  }, [subject, body])
  const { data: preview, error } = useQuery({
    queryKey: ['letters', 'preview', occasion, text],
    queryFn: ({ signal }) => callDesk('desk_preview', { occasion, ...text }, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <section className="sheet" aria-labelledby="preview">
      <h2 id="preview">Preview</h2>
      {error && <p role="alert">{sentenceOf(error)}</p>}
      {preview === null && <p className="quietly">There is no application to fill it with yet.</p>}
      {preview && (
        <>
          <p className="quietly">With the newest application: {nameOfLetter(preview)}</p>
          <LetterText text={preview} />
        </>
      )}
    </section>
  )
}
