/** The readable parts of an email. */
interface ReadMail {
  subject: string
  text: string
}

/** Reads the subject and the plain text of an email that this product sent, which is in UTF-8 and has no nested parts. */
export function readMail(raw: string): ReadMail {
  const whole = partOf(raw.replaceAll('\r\n', '\n'))
  const boundary = /boundary="?([^";\n]+)/i.exec(whole.headers)?.[1]
  const parts =
    boundary === undefined ? [whole] : whole.body.split(`--${boundary}`).map((part) => partOf(part.trim()))
  const plain = parts.find(({ headers }) => /^content-type: text\/plain/im.test(headers)) ?? whole
  return { subject: decodeWords(headerOf(whole.headers, 'subject')), text: decodeBody(plain).trim() }
}

function partOf(text: string) {
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

function decodeBody({ headers, body }: { headers: string; body: string }) {
  const encoding = headerOf(headers, 'content-transfer-encoding').trim().toLowerCase()
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? decodeQuotedPrintable(body) : body
}

function decodeQuotedPrintable(text: string) {
  return text
    .replaceAll('=\n', '')
    .replaceAll(/(?:=[0-9A-F]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
}
