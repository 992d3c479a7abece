import { script } from 'virtual:page-script/apply'

import { ownWords, type Look } from '../../design/look.ts'
import { renderDocument, type RenderedDocument } from '../document.tsx'
import type { ScriptData } from './apply-data.ts'
import { applyPage, type OwnApplyData } from './apply-page.tsx'
import { LinkPreview } from './LinkPreview.tsx'
// oxlint-disable-next-line import/default -- the build makes this default export
import doorScript from './inline-door.ts?script'
// oxlint-disable-next-line import/default -- the build makes this default export
import openScript from './inline-open.ts?script'

export type { ApplyData } from './apply-data.ts'

/** The options of the form's document. */
export interface ApplyOptions {
  /** The page's public address, for link previews. */
  siteUrl: string | undefined
  look: Look
  /** Whether the document includes its policy, because no server sends the policy as a header. */
  policyInDocument: boolean
}

/**
 * Renders the applicants' page.
 *
 * @param given The data of the page, except its parts of the look.
 * @returns The document and its policy.
 */
export function renderApply(
  given: OwnApplyData,
  { siteUrl, look, policyInDocument }: ApplyOptions,
): RenderedDocument {
  const { title, tagline } = look
  const { backend, takesNativePosts, door, outcome } = given
  const success = ownWords('success', look)
  const scriptData: ScriptData = { backend, takesNativePosts, posted: outcome?.status, success, door }
  const page = {
    ...applyPage(given, look),
    title,
    description: tagline,
    preview: <LinkPreview {...{ look, siteUrl }} />,
    data: scriptData,
    script,
    inlineScript: takesNativePosts && door === undefined ? openScript : doorScript,
    calls: [backend.url, ...(backend.webhookUrl === undefined ? [] : [backend.webhookUrl])],
    postsForms: takesNativePosts,
  }
  return renderDocument(page, policyInDocument)
}
