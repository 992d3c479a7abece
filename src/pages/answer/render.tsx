import type { RenderedDocument } from '../document.tsx'
import { renderLinked, type LinkedOptions } from '../linked.tsx'
import type { AnswerData } from './answer-data.ts'
import { answerPage } from './answer-page.tsx'
import { description, titleIntro } from './copy.ts'
// oxlint-disable-next-line import/default -- the build makes this default export
import inlineScript from './respond.ts?script'

export type { AnswerData } from './answer-data.ts'

/**
 * Renders the page on which accepted people give their RSVP.
 *
 * @param given The data that the inline script reads, except the title, which the look has.
 * @returns The document and its policy.
 */
export function renderAnswer(
  given: Omit<AnswerData, 'title'>,
  { look, policyInDocument }: LinkedOptions,
): RenderedDocument {
  const { title } = look
  const data: AnswerData = { ...given, title }
  const page = { ...answerPage(look), title: titleIntro + title, description, data, inlineScript }
  return renderLinked(page, policyInDocument)
}
