import type { Look } from '../../design/look.ts'
import { renderDocument, type RenderedDocument } from '../document.tsx'
import { description, titleIntro } from './copy.ts'
// oxlint-disable-next-line import/default -- the build makes this default export
import inlineScript from './respond.ts?script'
import type { WithdrawData } from './withdraw-data.ts'
import { withdrawPage } from './withdraw-page.tsx'

/** The options of the page's document. */
interface WithdrawOptions {
  look: Look
  /** Whether the document includes what its headers say, because no server sends them. */
  policyInDocument: boolean
}

/**
 * Renders the page on which an application is withdrawn by the link in its receipt.
 *
 * @param data The data that the inline script reads.
 * @returns The document and its policy.
 */
export function renderWithdraw(
  data: WithdrawData,
  { look, policyInDocument }: WithdrawOptions,
): RenderedDocument {
  const page = {
    ...withdrawPage(look),
    title: titleIntro + look.title,
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
