/** A part of a text: an address, which becomes a link, or other text. */
export type TextPart = string | { href: string; text: string }

/** Web addresses and email addresses. The punctuation after one does not belong to it. */
const address =
  /https?:\/\/[^\s\p{Cf}<>"]*[^\s\p{Cf}\p{P}<>"]\/?|[^\s\p{Cf}<>()@,;:"]+@[^\s\p{Cf}<>()@,;:"]+\.[\p{L}\p{N}-]*[\p{L}\p{N}]/giu

/** Splits a plain text at its addresses. */
export function linked(text: string): TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(address)) {
    if (index > end) parts.push(text.slice(end, index))
    parts.push({ href: found.includes('://') ? found : `mailto:${found}`, text: found })
    end = index + found.length
  }
  return end < text.length ? [...parts, text.slice(end)] : parts
}

/** The paragraphs of a text, between blank lines. */
export function paragraphsOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
}
