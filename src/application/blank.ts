/**
 * The characters that are blank wherever a text is read, for a class of a regular expression: white space, control characters
 * and characters that show nothing. The database has the same ones (`private.blanks`). Selectors after an emoji are not among
 * them, since they change what it looks like.
 */
export const blanks = String.raw`\u0001-\u0020\u007f-\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0`

const start = new RegExp(`^[${blanks}]+`)
const visible = new RegExp(`[^${blanks}]`)
const blank = new RegExp(`[${blanks}]+`, 'g')

/** Whether a text shows nothing. */
export function isBlank(text: string): boolean {
  return !visible.test(text)
}

/** A text without the blanks at both ends. */
export function trimmed(text: string): string {
  let end = text.length
  // An expression for the end would take the square of the time for a text with long gaps.
  while (end > 0 && isBlank(text.charAt(end - 1))) end--
  return text.slice(0, end).replace(start, '')
}

/** A text without any blank. */
export function withoutBlanks(text: string): string {
  return text.replace(blank, '')
}
