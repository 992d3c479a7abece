import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'

import base from '../design/base.css?inline'
import { paletteStyle } from '../design/palette.ts'
import { Head } from './Head.tsx'
import { pageDataId } from './page-data.ts'
import { contentSecurityPolicy, type Permissions } from './policy.ts'
import shell from './shell.html?raw'

/** One page, as it is to be rendered. */
export interface PageDocument extends Pick<Permissions, 'inlineScript' | 'calls' | 'postsForms'> {
  title: string
  description: string
  /** What links to this page are previewed with, besides its title and description. */
  preview?: ReactNode
  /** Its own style, which follows what all pages share. */
  css: string
  /** What hydration renders again, from `data`. */
  content: ReactNode
  data: unknown
  /** The address of its script, which the inline script asks for. */
  script: string
}

/** A whole HTML document, and the policy that goes with it. */
export interface RenderedDocument {
  html: string
  policy: string
}

/**
 * Renders a document: everything that is needed to read it and to fill its form.
 *
 * @param policyInDocument Whether it has to carry its policy itself, because no server sends it as a header.
 */
export function renderDocument(page: PageDocument, policyInDocument: boolean): RenderedDocument {
  const { title, description, preview, content, data, script, inlineScript } = page
  const inlineStyle = paletteStyle + base + page.css
  const policy = contentSecurityPolicy({ ...page, inlineStyle })
  const head = (
    <>
      {policyInDocument && <meta httpEquiv="content-security-policy" content={policy} />}
      <Head title={title} description={description} />
      {preview}
    </>
  )
  const scripts = `<script type="application/json" id="${pageDataId}">${inScript(JSON.stringify(data))}</script>
    <script data-page="${script}">${inlineScript}</script>`
  const parts: Record<string, string> = {
    head: `${renderToString(head)}<style>${inlineStyle}</style>`,
    page: renderToString(content),
    scripts,
  }
  const html = shell.replace(/<!--(head|page|scripts)-->/g, (_, part: string) => parts[part] ?? '')
  return { html, policy }
}

/** In a script element, `<` could begin its end. */
function inScript(json: string) {
  return json.replaceAll('<', '\\u003c')
}
