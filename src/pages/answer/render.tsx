import { Hills } from '../../design/illustrations.tsx'
import fieldStyle from '../../design/fields.css?inline'
import landscape from '../../design/landscape.css?inline'
import { renderDocument, type RenderedDocument } from '../document.tsx'
import type { AnswerData } from './answer-data.ts'
import answerStyle from './answer.css?inline'
import { byMailSentence, description, title } from './copy.ts'
// oxlint-disable-next-line import/default -- made by the build from that module
import inlineScript from './respond.ts?script'

export type { AnswerData } from './answer-data.ts'

/** The options of the answer page's document. */
export interface AnswerOptions {
  /** Whether the document includes its policy, because no server sends the policy as a header. */
  policyInDocument: boolean
}

/**
 * Renders the page on which accepted people give their RSVP.
 *
 * @param data The data that the inline script reads.
 * @returns The document and its policy.
 */
export function renderAnswer(data: AnswerData, { policyInDocument }: AnswerOptions): RenderedDocument {
  const page = {
    title,
    description,
    preview: (
      <>
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
      </>
    ),
    root: '../' as const,
    scene: <Hills />,
    sceneStyle: landscape + answerStyle,
    content: (
      <div className="card">
        <h1>{title}</h1>
        <noscript>
          <p>{byMailSentence}</p>
        </noscript>
        <div id="place" aria-live="polite" />
      </div>
    ),
    contentStyle: fieldStyle,
    data,
    inlineScript,
    calls: [data.backend.url],
    postsForms: false,
  }
  return renderDocument(page, policyInDocument)
}
