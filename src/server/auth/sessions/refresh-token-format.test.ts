import { createHash, createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'

import { decodeRefreshToken, encodeRefreshToken } from './refresh-token-format.ts'

const sessionId = '0f6e2c1a-5b7d-4a3e-9c8f-001122334455'
const key = randomBytes(32)

test.each([0, 1, 127, 128, 300, 16383, 16384, 2_147_483_647])('a token has the counter %i', (counter) => {
  const token = decodeRefreshToken(encodeRefreshToken(sessionId, counter, key))
  expect(token).toMatchObject({ sessionId, counter })
  expect(token?.isSignedWith(key)).toBe(true)
})

test('a session, a counter and a key always give the same token, and a different one if any of them differs', () => {
  const token = encodeRefreshToken(sessionId, 7, key)
  expect(encodeRefreshToken(sessionId, 7, key)).toBe(token)
  expect(encodeRefreshToken(sessionId, 8, key)).not.toBe(token)
  expect(encodeRefreshToken(sessionId.replace('0f', '1f'), 7, key)).not.toBe(token)
  expect(encodeRefreshToken(sessionId, 7, randomBytes(32))).not.toBe(token)
})

test('a token is a zero, the session, the counter, their HMAC and a checksum, in base64url', () => {
  const head = Buffer.from(`00${sessionId.replaceAll('-', '')}ac02`, 'hex')
  const signed = Buffer.concat([head, createHmac('sha256', key).update(head).digest().subarray(0, 16)])
  const whole = Buffer.concat([signed, createHash('sha256').update(signed).digest().subarray(0, 4)])
  expect(encodeRefreshToken(sessionId, 300, key)).toBe(whole.toString('base64url'))
})

test('a token is not signed with any other key', () => {
  const token = decodeRefreshToken(encodeRefreshToken(sessionId, 7, key))
  expect(token?.isSignedWith(randomBytes(32))).toBe(false)
  expect(token?.isSignedWith(Buffer.alloc(32))).toBe(false)
})

test('a token with any flipped bit is invalid', () => {
  const bytes = Buffer.from(encodeRefreshToken(sessionId, 7, key), 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes)
    const at = Math.floor(bit / 8)
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8))
    expect(decodeRefreshToken(changed.toString('base64url'))).toBeUndefined()
  }
})

test('a token with a raised counter and a new checksum is not signed', () => {
  const bytes = Buffer.from(encodeRefreshToken(sessionId, 7, key), 'base64url')
  bytes[17] = 8
  const token = decodeRefreshToken(withChecksum(bytes.subarray(0, -4)))
  expect(token?.counter).toBe(8)
  expect(token?.isSignedWith(key)).toBe(false)
})

test('a token whose counter is cut off, or has bytes after it, is invalid', () => {
  const [zero, id, signature] = [
    Buffer.from([0]),
    Buffer.from(sessionId.replaceAll('-', ''), 'hex'),
    Buffer.alloc(16),
  ]
  const decode = (...counter: number[]) =>
    decodeRefreshToken(withChecksum(Buffer.concat([zero, id, Buffer.from(counter), signature])))
  expect(decode(5)?.counter).toBe(5)
  expect(decode(0xac, 0x02)?.counter).toBe(300)
  expect(decode(0xac)).toBeUndefined()
  expect(decode(5, 5)).toBeUndefined()
  expect(decode(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)).toBeUndefined()
})

test.each(['', 'abcdefghijkl', 'a'.repeat(51), 'a'.repeat(64), 'a'.repeat(5_000), 'é'.repeat(52)])(
  'the text "%s" is not a token',
  (text) => {
    expect(decodeRefreshToken(text)).toBeUndefined()
  },
)

test('a token with something before or after it, or without its last character, is invalid', () => {
  const token = encodeRefreshToken(sessionId, 7, key)
  for (const text of [` ${token}`, `${token} `, `${token}=`, `${token}\n`, `${token}A`, token.slice(0, -1)]) {
    expect(decodeRefreshToken(text)).toBeUndefined()
  }
})

function withChecksum(signed: Buffer) {
  const checksum = createHash('sha256').update(signed).digest().subarray(0, 4)
  return Buffer.concat([signed, checksum]).toString('base64url')
}
