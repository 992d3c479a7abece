import { script } from 'virtual:page-script/apply'

import fieldStyle from '../../design/fields.css?inline'
import landscape from '../../design/landscape.css?inline'
import { ownWords, type Look } from '../../design/look.ts'
import { renderDocument, type RenderedDocument } from '../document.tsx'
import type { ApplyData, ScriptData } from './apply-data.ts'
import { ApplicationForm } from './ApplicationForm.tsx'
import doorStyle from './door.css?inline'
import formStyle from './form.css?inline'
import { LinkPreview } from './LinkPreview.tsx'
// oxlint-disable-next-line import/default -- the build makes this default export
import doorScript from './inline-door.ts?script'
// oxlint-disable-next-line import/default -- the build makes this default export
import openScript from './inline-open.ts?script'
import { ownWordsStyle } from './own-words-style.ts'
import privacyStyle from './privacy.css?inline'
import retreatStyle from './retreat.css?inline'
import { Scene } from './Scene.tsx'
import sceneStyle from './scene.css?inline'

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
 * @param given The data that the page's script reads, except its parts of the look.
 * @returns The document and its policy.
 */
export function renderApply(
  given: Omit<ApplyData, 'success' | 'privacyUrl' | 'privacyLabel'>,
  { siteUrl, look, policyInDocument }: ApplyOptions,
): RenderedDocument {
  const { title, tagline, privacyUrl, privacyLabel, accent, facts, about } = look
  const data: ApplyData = { ...given, success: ownWords('success', look), privacyUrl, privacyLabel }
  const { backend, takesNativePosts, door, outcome, success } = data
  const scriptData: ScriptData = { backend, takesNativePosts, posted: outcome?.status, success, door }
  const page = {
    title,
    description: tagline,
    preview: <LinkPreview {...{ look, siteUrl }} />,
    scene: <Scene {...{ look, door }} />,
    accent,
    sceneStyle:
      landscape +
      sceneStyle +
      ownWordsStyle(look) +
      (facts.length > 0 || about ? retreatStyle : '') +
      (door === undefined ? '' : doorStyle),
    content: <ApplicationForm {...data} />,
    contentStyle: fieldStyle + formStyle + (privacyUrl === undefined ? '' : privacyStyle),
    data: scriptData,
    script,
    inlineScript: takesNativePosts && door === undefined ? openScript : doorScript,
    calls: [backend.url, ...(backend.webhookUrl === undefined ? [] : [backend.webhookUrl])],
    postsForms: takesNativePosts,
  }
  return renderDocument(page, policyInDocument)
}
