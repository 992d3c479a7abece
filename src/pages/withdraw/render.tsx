import type { RenderedDocument } from '../document.tsx'
import { renderLinked, type LinkedOptions } from '../linked.tsx'
import { description, titleIntro } from './copy.ts'
// oxlint-disable-next-line import/default -- the build makes this default export
import inlineScript from './respond.ts?script'
import type { WithdrawData } from './withdraw-data.ts'
import { withdrawPage } from './withdraw-page.tsx'

/**
 * Renders the page on which an application is withdrawn by the link in its receipt.
 *
 * @param data The data that the inline script reads.
 * @returns The document and its policy.
 */
export function renderWithdraw(
  data: WithdrawData,
  { look, policyInDocument }: LinkedOptions,
): RenderedDocument {
  const page = { ...withdrawPage(look), title: titleIntro + look.title, description, data, inlineScript }
  return renderLinked(page, policyInDocument)
}
