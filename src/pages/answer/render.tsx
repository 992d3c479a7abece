import type { Look } from '../../design/look.ts'
import { renderDocument, type RenderedDocument } from '../document.tsx'
import type { AnswerData } from './answer-data.ts'
import { answerPage } from './answer-page.tsx'
import { description, titleIntro } from './copy.ts'
// oxlint-disable-next-line import/default -- the build makes this default export
import inlineScript from './respond.ts?script'

export type { AnswerData } from './answer-data.ts'

/** The options of the answer page's document. */
export interface AnswerOptions {
  look: Look
  /** Whether the document includes what its headers say, because no server sends them. */
  policyInDocument: boolean
}

/**
 * Renders the page on which accepted people give their RSVP.
 *
 * @param given The data that the inline script reads, except the title, which the look has.
 * @returns The document and its policy.
 */
export function renderAnswer(
  given: Omit<AnswerData, 'title'>,
  { look, policyInDocument }: AnswerOptions,
): RenderedDocument {
  const { title } = look
  const data: AnswerData = { ...given, title }
  const page = {
    ...answerPage(look),
    title: titleIntro + title,
    description,
    // Our own server sends the same as headers.
    preview: policyInDocument && (
      <>
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
      </>
    ),
    root: '../' as const,
    isSmall: true,
    data,
    inlineScript,
    calls: [data.backend.url],
    postsForms: false,
  }
  return renderDocument(page, policyInDocument)
}
