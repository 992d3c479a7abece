import type { Look } from '../design/look.ts'
import { renderDocument, type PageDocument, type RenderedDocument } from './document.tsx'

/** The options of the document of a page to which a link in an email leads. */
export interface LinkedOptions {
  look: Look
  /** Whether the document includes what its headers say, because no server sends them. */
  policyInDocument: boolean
}

/** Such a page: what is seen of it, its words, its only script, and the data that this script reads. */
type LinkedPage = Omit<PageDocument, 'preview' | 'isSmall' | 'root' | 'calls' | 'postsForms'> & {
  data: { backend: { url: string | null } }
}

/** Renders a page to which a link in an email leads. Neither search engines nor other sites learn its address. */
export function renderLinked(page: LinkedPage, policyInDocument: boolean): RenderedDocument {
  // Our own server sends the same as headers.
  const preview = policyInDocument && (
    <>
      <meta name="robots" content="noindex" />
      <meta name="referrer" content="no-referrer" />
    </>
  )
  return renderDocument(
    { ...page, preview, root: '../', isSmall: true, calls: [page.data.backend.url], postsForms: false },
    policyInDocument,
  )
}
