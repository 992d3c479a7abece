import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

const signatureLength = 16
const checksumLength = 4
const minLength = 1 + 16 + 1 + signatureLength + checksumLength

/** The content of a refresh token: its session, and a counter that each refresh of the session raises. */
export interface RefreshToken {
  sessionId: string
  counter: number
  /** Whether this key, the session's, signed the token. */
  isSignedWith(key: Uint8Array): boolean
}

/**
 * Encodes a refresh token in GoTrue's second format. Tokens are derived, not stored: base64url of a zero, the session's id,
 * the counter as a varint, an HMAC of these under the session's key, and a checksum.
 *
 * @param counter Begins at 0.
 */
export function encodeRefreshToken(sessionId: string, counter: number, key: Uint8Array): string {
  const head = Buffer.concat([
    Buffer.from([0]),
    Buffer.from(sessionId.replaceAll('-', ''), 'hex'),
    Buffer.from(varint(counter)),
  ])
  const signed = Buffer.concat([head, sign(head, key)])
  return Buffer.concat([signed, checksum(signed)]).toString('base64url')
}

/** Decodes a refresh token; undefined if the text is not a refresh token. */
export function decodeRefreshToken(text: string): RefreshToken | undefined {
  if (!/^[\w-]{51,64}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const signed = bytes.subarray(0, -checksumLength)
  if (bytes.length < minLength || bytes[0] !== 0) return undefined
  if (!checksum(signed).equals(bytes.subarray(-checksumLength))) return undefined
  const head = signed.subarray(0, -signatureLength)
  const counter = fromVarint(head.subarray(17))
  if (counter === undefined) return undefined
  const sessionId = head
    .subarray(1, 17)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return {
    sessionId,
    counter,
    isSignedWith: (key) => timingSafeEqual(sign(head, key), signed.subarray(-signatureLength)),
  }
}

function sign(head: Buffer, key: Uint8Array) {
  return createHmac('sha256', key).update(head).digest().subarray(0, signatureLength)
}

function checksum(signed: Buffer) {
  return createHash('sha256').update(signed).digest().subarray(0, checksumLength)
}

/** Encodes seven bits per byte, the lowest first. The highest bit of a byte is set if another byte follows. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}

/** Decodes the bytes of `varint`; undefined if they are not exactly one number. */
function fromVarint(bytes: Buffer) {
  const value = bytes.reduceRight((sum, byte) => sum * 128 + (byte & 127), 0)
  const isOneVarint = bytes.every((byte, index) => byte >= 128 === index < bytes.length - 1)
  return isOneVarint && Number.isSafeInteger(value) ? value : undefined
}
