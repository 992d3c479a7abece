import { useEffect, useRef, useState } from 'react'

import type { LettersOverview } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { upTo } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDeskAct } from '../kit/useDesk.tsx'
import { go } from '../kit/usePlace.ts'
import { useTyped } from '../kit/useTyped.ts'

interface TemplateRemoveProps {
  template: LettersOverview['templates'][number]
}

/** Removes a template that organisers named, once they said so twice: its drafts go with it. */
export function TemplateRemove({ template: { occasion, version, drafts } }: TemplateRemoveProps) {
  const [isAsked, setIsAsked] = useState(false)
  // Pressed once more, by Enter or in the same place, it is not removed.
  const safeButton = useRef<HTMLButtonElement>(null)
  const wasAsked = useRef(false)
  useEffect(() => {
    if (wasAsked.current !== isAsked) safeButton.current?.focus()
    wasAsked.current = isAsked
  }, [isAsked])
  const [, type] = useTyped(typedInto(occasion))
  const remove = useDeskAct('desk_remove_template', () => {
    type(null)
    announce(`Template removed: ${occasion}`)
    go({ screen: 'letters' })
  })
  return (
    <section className="row" aria-label="Removing">
      {isAsked ? (
        <>
          <span>
            Remove this template{drafts.count > 0 && `, and its drafts (${upTo(drafts)})`}? What was sent
            stays.
          </span>
          <button key="keep" ref={safeButton} className="quiet" onClick={() => setIsAsked(false)}>
            Keep
          </button>
          <button key="for-good" className="quiet" onClick={() => remove.press({ occasion, version })}>
            Remove for good
          </button>
        </>
      ) : (
        <button key="remove" ref={safeButton} className="quiet" onClick={() => setIsAsked(true)}>
          Remove
        </button>
      )}
      <Problem error={remove.error} />
    </section>
  )
}

/** The name of what is typed into a template. */
export function typedInto(occasion: string): string {
  return `template ${occasion}`
}
