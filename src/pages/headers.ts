/**
 * The security headers of a document, for our own server and for static hosts.
 *
 * @param policy The document's Content-Security-Policy. Directives that only work in a header are added here.
 * @see https://owasp.org/www-project-secure-headers/
 */
export function documentHeaders(policy: string): Record<string, string> {
  return {
    'content-security-policy': `${policy}; ${framing}`,
    'referrer-policy': 'no-referrer',
    ...assetHeaders,
  }
}

/** The security headers of every file of a page. */
export const assetHeaders: Readonly<Record<string, string>> = {
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/**
 * No page needs these features. The applicants' document has no such header, since its bytes are budgeted. Its
 * Content-Security-Policy lets no other code in, which could ask for a feature.
 */
const permissions = { 'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()' }

/** Headers of the desk only: pages that open the desk, or that the desk opens, cannot access its window. */
export const deskHeaders: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
  ...permissions,
}

/** Headers of the pages to which applicants' own links lead: these links must not appear in search results. */
export const linkedHeaders: Readonly<Record<string, string>> = {
  'x-robots-tag': 'noindex',
  ...permissions,
}

/** A directive that only works in a header: in a document it would log an error. */
export const framing = "frame-ancestors 'none'"

/** Caching of the files in `assets/`: a file's name changes with its content. */
export const assetCaching = 'public, max-age=31536000, immutable'
