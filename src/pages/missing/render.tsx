import { renderToStaticMarkup } from 'react-dom/server'

import { palettesWith } from '../../design/accent.ts'
import base from '../../design/base.css?inline'
import { Hills } from '../../design/illustrations.tsx'
import landscape from '../../design/landscape.css?inline'
import { paletteStyle } from '../../design/palette.ts'
import { contentSecurityPolicy } from '../policy.ts'
// oxlint-disable-next-line import/default -- the build makes this default export
import inlineScript from './leave.ts?script'
import missingStyle from './missing.css?inline'

const style = paletteStyle(palettesWith(undefined)) + base + landscape + missingStyle
const hills = renderToStaticMarkup(<Hills />)

/** The Content-Security-Policy of the page for missing addresses. */
export const missingPolicy = contentSecurityPolicy({
  inlineScript,
  inlineStyles: [style],
  calls: [],
  postsForms: false,
})

/**
 * Renders the page for missing addresses. A link that a mail program changed leads from it to its page.
 *
 * @param form The address of the form.
 */
export function renderMissing(form: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${missingPolicy}">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>Not found</title>
<style>${style}</style>
${hills}
<main class="card">
<h1>Not found</h1>
<p>Nothing is at this address. The link may be incomplete: please open it again from the email, or copy all of it.</p>
<p><a href="${form.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">Go to the application form</a></p>
</main>
<script>${inlineScript}</script>
</html>
`
}
