import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'

import base from '../design/base.css?inline'
import controls from '../design/controls.css?inline'
import { paletteStyle } from '../design/palette.ts'
import { Head } from './Head.tsx'
import { pageDataId } from './page-data.ts'
import { contentSecurityPolicy, type Permissions } from './policy.ts'
import shell from './shell.html?raw'

/** One page, as it is to be rendered. */
export interface PageDocument extends Pick<Permissions, 'inlineScript' | 'calls' | 'postsForms'> {
  title: string
  description: string
  /** What previews of links to this page show, besides its title and description. */
  preview?: ReactNode
  /** The part that is painted first and stays as it was rendered, with its style. */
  scene: ReactNode
  sceneStyle: string
  /** The part that hydration renders again from `data`, with its style. */
  content: ReactNode
  contentStyle: string
  data: unknown
  /** The address of its script, which the inline script loads; none where the inline script is the only one. */
  script?: string
  /** Whether the inline script runs before the rest of the document has come, and not after all of it. */
  scriptIsFirst?: boolean
  /** Where the site's root is, as the document sees it. */
  root?: './' | '../'
}

/** A whole HTML document, and the policy that goes with it. */
export interface RenderedDocument {
  html: string
  policy: string
  /** The number of characters up to the end of the scene, which can be painted while the rest is on its way. */
  sceneLength: number
}

/**
 * Renders a document: everything that is needed to read it and to fill its form.
 *
 * @param policyInDocument Whether the document has to carry its policy itself, because no server sends it as a header.
 */
export function renderDocument(page: PageDocument, policyInDocument: boolean): RenderedDocument {
  const { title, description, preview, scene, content, root = './' } = page
  const { data, script, inlineScript, scriptIsFirst = false } = page
  const sceneStyle = paletteStyle + base + page.sceneStyle
  // After the scene and not in the head, so that the scene is painted before the browser has styled the form.
  const contentStyle = controls + page.contentStyle
  const contentStyleElement = `<style>${contentStyle}</style>`
  const policy = contentSecurityPolicy({ ...page, inlineStyles: [sceneStyle, contentStyle] })
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
    head: `${renderToString(head)}${scriptIsFirst ? scripts : ''}<style>${sceneStyle}</style>`,
    scene: renderToString(scene) + contentStyleElement,
    page: renderToString(content),
    scripts: scriptIsFirst ? '' : scripts,
  }
  const html = shell.replace(/<!--(head|scene|page|scripts)-->/g, (_, part: string) => parts[part] ?? '')
  return { html, policy, sceneLength: html.indexOf(contentStyleElement) }
}

/** In a script element, `<` could begin its end. */
function inScript(json: string) {
  return json.replaceAll('<', '\\u003c')
}
