import { withoutBlanks } from './blank.ts'

/** A text with the digits 0 to 9 in place of those of other scripts and of wide ones, as keyboards type and documents have them. */
export function withAsciiDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/\p{Nd}/gu, (digit) => {
    // Unicode has the ten digits of each script in a row.
    const code = digit.codePointAt(0) ?? 0
    let value = 0
    while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++
    return String(value % 10)
  })
}

/** A typed or pasted code from an email or an authenticator app as it was sent: without blanks and dashes. */
export function codeOf(typed: string): string {
  return withoutBlanks(withAsciiDigits(typed)).replaceAll(/\p{Pd}/gu, '')
}
