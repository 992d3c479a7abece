import { createHash } from 'node:crypto'

/** The resources and calls that a document needs. */
export interface Permissions {
  /** The text of its inline script. */
  inlineScript: string
  /** The address of the page's script, which the inline script loads; undefined if the inline script is the only script. */
  script?: string
  /** The texts of its styles. */
  inlineStyles: readonly string[]
  /** The addresses that the document's scripts call; null means the document's origin. */
  calls: readonly (string | null)[]
  /** Whether the browser itself may post the document's forms to the document's origin. */
  postsForms: boolean
}

/**
 * The Content-Security-Policy of one document. It allows the inline script and styles by their hashes, the page's script, and its
 * calls.
 *
 * @see https://www.w3.org/TR/CSP3/
 */
export function contentSecurityPolicy(permissions: Permissions): string {
  const { inlineScript, script, inlineStyles, calls, postsForms } = permissions
  const origins = calls.map((address) => (address === null ? "'self'" : new URL(address).origin))
  const directives = {
    'default-src': ["'none'"],
    // 'strict-dynamic' lets the inline script load the page's script. 'self' is for browsers that do not support it.
    'script-src': [...(script === undefined ? [] : ["'self'", "'strict-dynamic'"]), hashOf(inlineScript)],
    'style-src': inlineStyles.map(hashOf),
    // The document contains the icon as a `data:` address.
    'img-src': ["'self'", 'data:'],
    'connect-src': [...new Set(origins)],
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
