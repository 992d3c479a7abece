import { useState } from 'react'
import { useLocation } from 'wouter'

import type { CallDesk, LettersStanding } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct } from './letters.ts'
import { inDigits } from './words.ts'

interface RemoveTemplateProps {
  callDesk: CallDesk
  template: LettersStanding['templates'][number]
}

/** Removes a template that organisers named, once they said so twice: its drafts go with it. */
export function RemoveTemplate({ callDesk, template: { occasion, version, drafts } }: RemoveTemplateProps) {
  const [isAsked, setIsAsked] = useState(false)
  const [, navigate] = useLocation()
  const remove = useLetterAct(
    (_given: void, signal) => callDesk('desk_remove_template', { occasion, version }, signal),
    () => {
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
      <button
        className="quiet"
        onClick={() => {
          if (!isAsked) setIsAsked(true)
          else if (!remove.isPending) remove.mutate(undefined)
        }}
      >
        {isAsked ? 'Remove for good' : 'Remove'}
      </button>
      {isAsked && (
        <button className="quiet" onClick={() => setIsAsked(false)}>
          Keep
        </button>
      )}
      {remove.error && <p role="alert">{sentenceOf(remove.error)}</p>}
    </section>
  )
}
