import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'

import type { CallDesk, LettersOverview } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useTyped } from '../typed.ts'
import { useLetterAct } from './letters.ts'
import { typedIntoTemplate } from './TemplateForm.tsx'
import { inDigits } from './words.ts'

interface RemoveTemplateProps {
  callDesk: CallDesk
  template: LettersOverview['templates'][number]
}

/** Removes a template that organisers named, once they said so twice: its drafts go with it. */
export function RemoveTemplate({ callDesk, template: { occasion, version, drafts } }: RemoveTemplateProps) {
  const [isAsked, setIsAsked] = useState(false)
  // Pressed once more, by Enter or in the same place, it is not removed.
  const safeButton = useRef<HTMLButtonElement>(null)
  const wasAsked = useRef(false)
  useEffect(() => {
    if (wasAsked.current !== isAsked) safeButton.current?.focus()
    wasAsked.current = isAsked
  }, [isAsked])
  const [, navigate] = useLocation()
  const [, type] = useTyped(typedIntoTemplate(occasion))
  const remove = useLetterAct(
    (_given: void, signal) => callDesk('desk_remove_template', { occasion, version }, signal),
    () => {
      type(null)
      announce(`Template removed: ${occasion}`)
      navigate('/letters')
    },
  )
  return (
    <section className="row" aria-label="Removing">
      {isAsked && (
        <span>
          Remove this template{drafts.count > 0 && `, and its drafts (${inDigits(drafts)})`}? What was sent
          stays.
        </span>
      )}
      {isAsked ? (
        <>
          <button key="keep" ref={safeButton} className="quiet" onClick={() => setIsAsked(false)}>
            Keep
          </button>
          <button key="for-good" className="quiet" onClick={() => remove.mutate()}>
            Remove for good
          </button>
        </>
      ) : (
        <button key="remove" ref={safeButton} className="quiet" onClick={() => setIsAsked(true)}>
          Remove
        </button>
      )}
      {remove.error && <p role="alert">{sentenceOf(remove.error)}</p>}
    </section>
  )
}
