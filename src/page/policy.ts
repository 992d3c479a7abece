import { createHash } from 'node:crypto'

import type { PageData } from './page-data.ts'

/**
 * The Content-Security-Policy of one rendered document: its own script and style by their hashes, what that
 * script loads, and calls to the backend and the webhook that it was rendered for.
 *
 * @param inlineScript The text of the document's script.
 * @param inlineStyle The text of its style.
 * @see https://www.w3.org/TR/CSP3/
 */
export function contentSecurityPolicy(
  { backend, takesNativePosts }: PageData,
  inlineScript: string,
  inlineStyle: string,
): string {
  const calls = [backend.url, backend.webhookUrl].flatMap((url) =>
    url === null ? [] : [new URL(url).origin],
  )
  const directives = {
    'default-src': ["'none'"],
    // 'self' is for browsers that do not know 'strict-dynamic', which lets the inline script load the page's.
    'script-src': ["'self'", "'strict-dynamic'", hashOf(inlineScript)],
    'style-src': [hashOf(inlineStyle)],
    // The icon is part of the document.
    'img-src': ["'self'", 'data:'],
    'connect-src': [...new Set([...(backend.url === null ? ["'self'"] : []), ...calls])],
    'form-action': [takesNativePosts ? "'self'" : "'none'"],
    'base-uri': ["'none'"],
  }
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...sources].join(' '))
    .join('; ')
}

function hashOf(text: string) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
