import { createHash } from 'node:crypto'

/** The resources and calls that a document needs. */
export interface Permissions {
  /** The text of its inline script. */
  inlineScript: string
  /** The address of the page's script, which the inline script loads; undefined without one. */
  script?: string
  /** The texts of its styles. */
  inlineStyles: readonly string[]
  /** The addresses that its scripts call; null means its own origin. */
  calls: readonly (string | null)[]
  /** Whether the browser itself may post its forms to its own origin. */
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
    // 'self' is for browsers without 'strict-dynamic', which lets the inline script load the page's script.
    'script-src': [...(script === undefined ? [] : ["'self'", "'strict-dynamic'"]), hashOf(inlineScript)],
    'style-src': inlineStyles.map(hashOf),
    // The icon is part of the document.
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
