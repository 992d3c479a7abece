/** A paragraph of an email. */
export interface Paragraph {
  /** Plain text, which may have several lines. */
  text?: string
  /** A code, which stands by itself above the text in HTML. */
  code?: string
  /** An address of our own, below the text. Nothing else of an email becomes a link. */
  link?: string
  /** The words of a button that leads to the link. */
  button?: string
}

/** The paragraphs as plain text, without codes and buttons. */
export function plainText(paragraphs: readonly Paragraph[]): string {
  return paragraphs
    .map(({ text, link }) => [text, link].filter((part) => part !== undefined).join('\n'))
    .join('\n\n')
}

/**
 * The paragraphs of a plain text.
 *
 * @param link The address that becomes a link, below the first paragraph that has it; blank for none.
 * @param button The words of the button that leads there; null for the address itself.
 */
export function paragraphsOf(text: string, link: string, button: string | null): Paragraph[] {
  const texts = text
    .split(/\n[^\S\n]*\n\s*/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
  const index = link === '' ? -1 : texts.findIndex((paragraph) => paragraph.includes(link))
  return texts.flatMap((paragraph, at) =>
    at === index ? withLink(paragraph, link, button) : { text: paragraph },
  )
}

/** If the address ends a line, it leaves the text, since it stands below it. The next lines follow it. */
function withLink(text: string, link: string, label: string | null): Paragraph[] {
  const button = label === null ? {} : { button: label }
  const at = text.indexOf(link)
  const rest = text.slice(at + link.length)
  const [lineEnd] = /^[.,;:!?]*[^\S\n]*(\n|$)/.exec(rest) ?? []
  if (lineEnd === undefined) return [{ text, link, ...button }]
  const [before, after] = [text.slice(0, at).trim(), rest.slice(lineEnd.length)]
  return [{ text: before, link, ...button }, ...(after === '' ? [] : [{ text: after }])]
}
