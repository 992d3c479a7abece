import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'

import { Head } from './Head.tsx'
import { pageDataId } from './page-data.ts'
import { stylesOf, type PageParts } from './page-parts.ts'
import { contentSecurityPolicy, type Permissions } from './policy.ts'
import shell from './shell.html?raw'

/** The parts of a page to render. */
export interface PageDocument extends PageParts, Pick<Permissions, 'inlineScript' | 'calls' | 'postsForms'> {
  title: string
  description: string
  /** Further head elements, such as link previews. */
  preview?: ReactNode
  /** Whether the document fits into the first packets of a response. It then has no beginnings, and one style. */
  isSmall?: boolean
  /** Elements after the content that nobody sees at first, with their style: transferring them must not delay the first paint. */
  later?: { content: ReactNode; style: string }
  data: unknown
  /** The address of the page's script, which the inline script loads; undefined if the inline script is the only script. */
  script?: string
  /** Whether the inline script is in the head and runs before the rest of the document is parsed. */
  isScriptFirst?: boolean
  /** The path from the document to the site's root. */
  root?: './' | '../'
}

/** An HTML document and its Content-Security-Policy. */
export interface RenderedDocument {
  html: string
  policy: string
  /** The lengths of the document's beginnings that the browser can paint while the rest loads, in characters, ascending. */
  beginnings: number[]
}

/**
 * Renders a document with everything that is needed to read it and to fill in its form.
 *
 * @param policyInDocument Whether the document includes its policy, because no server sends the policy as a header.
 */
export function renderDocument(page: PageDocument, policyInDocument: boolean): RenderedDocument {
  const { title, description, preview, scene, content, root = './' } = page
  const { later, data, script, inlineScript, isScriptFirst = false, isSmall = false } = page
  // The content's is placed after the scene, so that the scene is painted before the browser has styled the form.
  const [sceneStyle, contentStyle] = stylesOf(page)
  const styles = isSmall ? [sceneStyle + contentStyle] : [sceneStyle, contentStyle]
  const [firstStyleElement = '', contentStyleElement = ''] = styles.map((style) => `<style>${style}</style>`)
  const inlineStyles = [...styles, ...(later ? [later.style] : [])]
  const policy = contentSecurityPolicy({ ...page, inlineStyles })
  const head = (
    <>
      {policyInDocument && <meta httpEquiv="content-security-policy" content={policy} />}
      <Head title={title} description={description} root={root} />
      {preview}
    </>
  )
  const scripts = `<script type="application/json" id="${pageDataId}">${inScript(JSON.stringify(data))}</script>
    <script${script === undefined ? '' : ` data-page="${script}"`}>${inlineScript}</script>`
  const parts: Record<string, string> = {
    head: `${renderToString(head)}${isScriptFirst ? scripts : ''}${firstStyleElement}`,
    scene: renderToString(scene) + contentStyleElement,
    page: renderToString(content),
    end:
      (later ? `<style>${later.style}</style>${renderToString(later.content)}` : '') +
      (isScriptFirst ? '' : scripts),
  }
  const html = shell.replace(/<!--(head|scene|page|end)-->/g, (_, part: string) => parts[part] ?? '')
  const beginnings = isSmall
    ? []
    : [html.indexOf(contentStyleElement), ...(later ? [html.indexOf('</main>')] : [])]
  return { html, policy, beginnings }
}

/** In a script element, `<` could start the end tag. */
function inScript(json: string) {
  return json.replaceAll('<', '\\u003c')
}
