/** The readable parts of an email. */
interface ReadMail {
  subject: string
  text: string
  /** The attached file for a calendar, if there is one. */
  calendar: string | undefined
}

interface Part {
  headers: string
  body: string
}

/** Reads the subject, the plain text and the calendar's file of an email that this product sent, which is in UTF-8. */
export function readMail(raw: string): ReadMail {
  const whole = partOf(raw.replaceAll('\r\n', '\n'))
  const parts = leavesOf(whole)
  const ofType = (type: string) =>
    parts.find(({ headers }) => headerOf(headers, 'content-type').startsWith(type))
  const calendar = ofType('text/calendar')
  return {
    subject: decodeWords(headerOf(whole.headers, 'subject')),
    text: decodeBody(ofType('text/plain') ?? whole).trim(),
    calendar: calendar && decodeBody(calendar),
  }
}

/** The parts that have no parts themselves. */
function leavesOf(part: Part): Part[] {
  const boundary = /boundary="?([^";\n]+)/i.exec(part.headers)?.[1]
  if (boundary === undefined) return [part]
  return part.body.split(`--${boundary}`).flatMap((each) => leavesOf(partOf(each.trim())))
}

function partOf(text: string): Part {
  const [headers = '', ...body] = text.split('\n\n')
  // A folded header continues on a line that begins with white space.
  return { headers: headers.replaceAll(/\n[ \t]+/g, ' '), body: body.join('\n\n') }
}

function headerOf(headers: string, name: string) {
  return new RegExp(`^${name}: *(.*)$`, 'im').exec(headers)?.[1] ?? ''
}

/** @see https://www.rfc-editor.org/rfc/rfc2047 */
function decodeWords(text: string) {
  return text
    .replaceAll(/(=\?[^?]+\?[BQ]\?[^?]*\?=) +(?==\?)/gi, '$1')
    .replaceAll(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString()
        : decodeQuotedPrintable(word.replaceAll('_', ' ')),
    )
}

function decodeBody({ headers, body }: Part) {
  const encoding = headerOf(headers, 'content-transfer-encoding').trim().toLowerCase()
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? decodeQuotedPrintable(body) : body
}

function decodeQuotedPrintable(text: string) {
  return text
    .replaceAll('=\n', '')
    .replaceAll(/(?:=[0-9A-F]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
}
