import { createHash } from 'node:crypto'

/** What a document may do. */
export interface Permissions {
  /** The text of its inline script. */
  inlineScript: string
  /** The page's script, which the inline one loads, where it has one. */
  script?: string
  /** The texts of its styles. */
  inlineStyles: readonly string[]
  /** The addresses that its script calls; null is its own origin. */
  calls: readonly (string | null)[]
  /** Whether its forms may be posted to its own origin by the browser itself. */
  postsForms: boolean
}

/**
 * The Content-Security-Policy of one rendered document. It allows the document's script and style by their hashes, what the
 * script loads, and the calls that it makes.
 *
 * @see https://www.w3.org/TR/CSP3/
 */
export function contentSecurityPolicy(permissions: Permissions): string {
  const { inlineScript, script, inlineStyles, calls, postsForms } = permissions
  const called = calls.map((address) => (address === null ? "'self'" : new URL(address).origin))
  const directives = {
    'default-src': ["'none'"],
    // 'self' is for browsers that do not know 'strict-dynamic', which lets the inline script load the page's.
    'script-src': [...(script === undefined ? [] : ["'self'", "'strict-dynamic'"]), hashOf(inlineScript)],
    'style-src': inlineStyles.map(hashOf),
    // The icon is part of the document.
    'img-src': ["'self'", 'data:'],
    'connect-src': [...new Set(called)],
    'form-action': [postsForms ? "'self'" : "'none'"],
    'base-uri': ["'none'"],
  }
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...sources].join(' '))
    .join('; ')
}

function hashOf(text: string) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
