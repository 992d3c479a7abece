/**
 * The headers that guard a document, for our own server and for static hosts.
 *
 * @param policy The document's Content-Security-Policy. What only a header may say of it is added here.
 * @see https://owasp.org/www-project-secure-headers/
 */
export function documentHeaders(policy: string): Record<string, string> {
  return {
    'content-security-policy': `${policy}; ${framing}`,
    'referrer-policy': 'no-referrer',
    ...assetHeaders,
  }
}

/** The headers that guard whatever belongs to a page. */
export const assetHeaders: Readonly<Record<string, string>> = {
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** Headers of the desk alone: no page that opens it, or that it opens, may reach into it. */
export const deskHeaders: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
}

/** Headers of the answer page alone: nobody else learns the link to a place. */
export const answerHeaders: Readonly<Record<string, string>> = {
  'x-robots-tag': 'noindex',
}

/** A directive that only a header may hold: in a document it would only log an error. */
export const framing = "frame-ancestors 'none'"

/** How long a browser may keep what lies in `assets/`: its names change with its content. */
export const assetCaching = 'public, max-age=31536000, immutable'
