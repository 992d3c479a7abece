import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import type { CallDesk, Listed } from '../../../client/desk.ts'
import { sentenceOf } from '../messages.ts'
import { LetterText } from './LetterText.tsx'
import { PreviewWith } from './PreviewWith.tsx'
import { SendTest } from './SendTest.tsx'
import { usePaused } from './use-paused.ts'
import { nameOfLetter } from './words.ts'

interface TemplatePreviewProps {
  callDesk: CallDesk
  occasion: string
  subject: string
  body: string
}

/** A text as an applicant would read it: the newest one, or whoever is chosen. */
export function TemplatePreview({ callDesk, occasion, subject, body }: TemplatePreviewProps) {
  const [chosen, setChosen] = useState<Listed | null>(null)
  const text = {
    occasion,
    subject: usePaused(subject),
    body: usePaused(body),
    ...(chosen && { application: chosen.id }),
  }
  const { data: preview, error } = useQuery({
    queryKey: ['letters', 'preview', text],
    queryFn: ({ signal }) => callDesk('desk_preview', text, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <section className="sheet preview" aria-labelledby="preview">
      <h2 id="preview">Preview</h2>
      {error && <p role="alert">{sentenceOf(error)}</p>}
      {(preview || chosen) && (
        <PreviewWith
          callDesk={callDesk}
          chosen={chosen}
          isBlind={preview?.name === null}
          onChoose={setChosen}
        />
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
          <SendTest
            callDesk={callDesk}
            occasion={occasion}
            subject={subject}
            body={body}
            application={preview.application}
          />
        </>
      )}
    </section>
  )
}
