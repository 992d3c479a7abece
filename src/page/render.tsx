import { renderToString } from 'react-dom/server'
import * as assets from 'virtual:page-assets'

import shell from '../../index.html?raw'
// oxlint-disable-next-line import/default -- made by the build from that module
import earlyScript from './early.ts?script'
import { Head } from './Head.tsx'
import { Page } from './Page.tsx'
import { pageDataId, type PageData } from './page-data.ts'
import css from './page.css?inline'
import { paletteStyle } from './palette.ts'
import { contentSecurityPolicy } from './policy.ts'

export type { PageData } from './page-data.ts'

const style = paletteStyle + css

/** A whole HTML document, and the policy that goes with it. */
export interface RenderedDocument {
  html: string
  policy: string
}

export interface RenderOptions {
  /** The page's public address, for link previews. */
  siteUrl: string | undefined
  /** Whether the document has to carry its policy itself, because no server sends it as a header. */
  policyInDocument: boolean
}

/** Renders the document: everything that a visitor needs to read and fill the form. */
export function renderDocument(
  data: PageData,
  { siteUrl, policyInDocument }: RenderOptions,
): RenderedDocument {
  const policy = contentSecurityPolicy(data, earlyScript, style)
  const head = (
    <>
      {policyInDocument && <meta httpEquiv="content-security-policy" content={policy} />}
      <Head siteUrl={siteUrl} />
    </>
  )
  const scripts = `<script type="application/json" id="${pageDataId}">${inScript(JSON.stringify(data))}</script>
    <script data-page="${assets.script}">${earlyScript}</script>`
  const parts: Record<string, string> = {
    head: `${renderToString(head)}<style>${style}</style>`,
    page: renderToString(<Page {...data} />),
    scripts,
  }
  const html = shell.replace(/<!--(head|page|scripts)-->/g, (_, part: string) => parts[part] ?? '')
  return { html, policy }
}

/** In a script element, `<` could begin its end. */
function inScript(json: string) {
  return json.replaceAll('<', '\\u003c')
}
