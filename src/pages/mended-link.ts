/**
 * A link to the desk or to a page for applicants, as it was before a mail program changed it. Mail programs encode `#` as `%23`, even
 * twice, and add the punctuation behind a link to it.
 *
 * @param address The address that was opened.
 * @returns The address in which everything behind the page's name is behind `#`; undefined if nothing has to be mended.
 */
export function mendedLink({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>) {
  const parts = /^(.*\/)(withdraw|answer|desk)((?:\/(?:index\.html)?)?(?:%(?:25)*23)?)(.*)$/i.exec(pathname)
  if (parts === null) return undefined
  const [, root = '', name = '', separator = '', rest = ''] = parts
  const page = root + name.toLowerCase()
  const isPunctuation = /^[.,;:!?)\]>}'"]*$/.test(decoded(rest))
  // The name of another file may begin like that of a page.
  if (separator === '' && !isPunctuation) return undefined
  if (page + separator === pathname && !separator.includes('%')) return undefined
  return `${page}/${isPunctuation ? search + hash : `#${decoded(rest)}${search}${hash}`}`
}

/** Puts the mended address into the address bar, without loading it. */
export function mendAddress(): void {
  const link = mendedLink(location)
  if (link !== undefined) history.replaceState(history.state, '', link)
}

/** The token of a link in a fragment, in lower case and without what follows; the whole fragment if it has none. */
export function tokenIn(hash: string): string {
  return /[\da-f-]{36}/i.exec(hash)?.[0].toLowerCase() ?? hash.slice(1)
}

/**
 * The fragment of a link to the desk without what a mail program added or encoded.
 *
 * @param hash In the format of `location.hash`.
 */
export function mendedDeskHash(hash: string): string {
  const [, token, type] = /token_hash=([\w-]+).*?type=([a-z_]+)/i.exec(decoded(hash)) ?? []
  if (token && type) {
    // Our own tokens are hexadecimal. Those of a hosted project may have a meaning in their case.
    const token_hash = /^[\da-f]{64}$/i.test(token) ? token.toLowerCase() : token
    return `#${new URLSearchParams({ token_hash, type: type.toLowerCase() }).toString()}`
  }
  // Behind `?` are filters, such as a search that ends with a full stop.
  return hash.startsWith('#/') && !hash.includes('?') ? hash.replace(/[.,;:!)\]>}'"]+$/, '') : hash
}

/** Decodes a text of an address; leaves one that cannot be decoded as it is. */
function decoded(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
