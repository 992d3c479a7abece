import { eastAsianWidth } from 'get-east-asian-width'

/** Splits a text into characters as a reader sees them. */
const characters = new Intl.Segmenter()
/** A text whose characters take one column each. Most texts do: this test is a hundred times faster than splitting a text. */
const narrow = /^[\u0020-\u007e\u00a0-\u02ff]*$/
const emoji = /\p{Emoji_Presentation}|\p{Regional_Indicator}|\ufe0f/u
const invisible = /[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Wraps a line between its words. A word that is longer than a row is wrapped between its characters. Spaces at the line's
 * beginning stay.
 *
 * @param columns The width of a row.
 * @returns The rows, without trailing spaces.
 */
export function wrap(line: string, columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const word of line.split(/(?<= )(?=[^ ])/)) {
    const parts = widthOf(word.trimEnd()) <= columns ? [word] : charactersOf(word)
    for (const part of parts) {
      const width = widthOf(part)
      // Spaces may extend beyond the end of the row, where they are not seen.
      const widthWithoutSpaces = width - (part.length - part.trimEnd().length)
      if (widthWithoutSpaces > 0 && used + widthWithoutSpaces > columns) {
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
  // Stryker disable next-line ConditionalExpression: it is only quicker
  if (narrow.test(text)) return Array.from(text)
  return Array.from(characters.segment(text), ({ segment }) => segment)
}

/** The columns that a text takes on a terminal. */
function widthOf(text: string) {
  if (narrow.test(text)) return text.length
  let width = 0
  // Normalised, since otherwise each part of a Korean syllable would count.
  for (const character of charactersOf(text.normalize())) {
    if (emoji.test(character)) width += 2
    else
      for (const part of character.replace(invisible, '')) width += eastAsianWidth(part.codePointAt(0) ?? 0)
  }
  return width
}
