import { eastAsianWidth } from 'get-east-asian-width'

/** What a reader takes for one character, of however many it is made. */
const characters = new Intl.Segmenter()
/** Of these each takes one column. Most text is of these alone, and taking it apart takes a hundred times as long. */
const narrow = /^[\u0020-\u007e\u00a0-\u02ff]*$/
const emoji = /\p{Emoji_Presentation}|\p{Regional_Indicator}|\ufe0f/u
const unseen = /[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Wraps a line at its words; a word that is longer than a row, as all of a text without blanks is, between its
 * characters. The blanks at the line's beginning stay.
 *
 * @param columns How wide a row may be.
 * @returns The rows, without the blanks at their ends.
 */
export function wrap(line: string, columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    const parts = widthOf(word.trimEnd()) <= columns ? [word] : charactersOf(word)
    for (const part of parts) {
      const width = widthOf(part)
      // Blanks may stand beyond the end: they are not seen.
      const seen = width - (part.length - part.trimEnd().length)
      if (seen > 0 && used + seen > columns) {
        rows.push(row.trimEnd())
        row = ''
        used = 0
      }
      row += part
      used += width
    }
  }
  return [...rows, row.trimEnd()]
}

function charactersOf(text: string) {
  if (narrow.test(text)) return Array.from(text)
  return Array.from(characters.segment(text), ({ segment }) => segment)
}

/** How many columns a text takes on a terminal. */
function widthOf(text: string) {
  if (narrow.test(text)) return text.length
  let width = 0
  // Composed, as the parts of a Korean syllable would each count.
  for (const character of charactersOf(text.normalize())) {
    if (emoji.test(character)) width += 2
    else for (const part of character.replace(unseen, '')) width += eastAsianWidth(part.codePointAt(0) ?? 0)
  }
  return width
}
