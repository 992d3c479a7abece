import { Link } from 'wouter'

import type { CallDesk } from '../../../client/desk.ts'
import { beginAt } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { useLetters } from './letters.ts'
import { RemoveTemplate } from './RemoveTemplate.tsx'
import { TemplateForm } from './TemplateForm.tsx'
import { isNamed, nameOfOccasion } from './words.ts'
import { useTitle } from '../title.ts'

/** What letters of one occasion say. */
export function TemplateScreen({ callDesk, occasion }: { callDesk: CallDesk; occasion: string }) {
  useTitle(`Template: ${nameOfOccasion(occasion)}`)
  const { data: overview, error } = useLetters(callDesk)
  const template = overview?.templates.find((each) => each.occasion === occasion)
  return (
    <>
      <nav className="row application-nav" aria-label="In the letters">
        <Link href="/letters" className="button">
          Back
        </Link>
      </nav>
      <h1 ref={beginAt} tabIndex={-1}>
        Template: {nameOfOccasion(occasion)}
      </h1>
      {error && (
        <p className="notice error" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      {!overview && !error && <p aria-busy="true">Loading…</p>}
      {overview && (
        <>
          <TemplateForm callDesk={callDesk} occasion={occasion} template={template} />
          {template && isNamed(occasion) && <RemoveTemplate callDesk={callDesk} template={template} />}
        </>
      )}
    </>
  )
}
