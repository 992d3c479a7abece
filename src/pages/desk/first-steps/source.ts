/** The longest word after `?from=` that Charts shows. */
const maxCharacters = 40

/** The word that Charts counts for what an organiser typed: small letters, digits, `-` and `_`. */
export function sourceOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxCharacters)
    .replace(/-$/, '')
}

/** The page's address with the word by which Charts counts its visits; without a word, the address alone. */
export function addressFrom(page: string, source: string): string {
  return source === '' ? page : `${page}?from=${source}`
}
