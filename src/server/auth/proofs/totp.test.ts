import { Secret } from 'otpauth'
import { expect, test } from 'vitest'

import { checkCode, newSecret } from './totp.ts'

/** The secret of RFC 6238's test vectors, "12345678901234567890", in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

// https://www.rfc-editor.org/rfc/rfc6238#appendix-B: the last six of the eight digits for SHA-1.
test.each([
  [59, 0x1, '287082'],
  [1111111109, 0x23523ec, '081804'],
  [1111111111, 0x23523ed, '050471'],
  [1234567890, 0x273ef07, '005924'],
  [2000000000, 0x3f940aa, '279037'],
  [20000000000, 0x27bc86aa, '353130'],
])('at %i seconds, in the 30-second period %i, the code is %s', async (seconds, period, code) => {
  expect(await checkCode(secret, code, seconds * 1000)).toBe(period)
})

test('a code is accepted up to one period early or late, and gives the number of its own period', async () => {
  const period = 0x23523ed
  const checkAt = (offset: number) => checkCode(secret, '050471', (period + offset) * 30_000)
  expect(await checkAt(-1)).toBe(period)
  expect(await checkAt(0)).toBe(period)
  expect(await checkAt(1)).toBe(period)
  expect(await checkAt(-2)).toBeUndefined()
  expect(await checkAt(2)).toBeUndefined()
})

test.each(['050472', '50471', '0050471', '14050471', '', 'abcdef', '050471 050471'])(
  'the text "%s" is refused as a code',
  async (code) => {
    expect(await checkCode(secret, code, 1111111111_000)).toBeUndefined()
  },
)

test.each(['050 471', '０５０４７１', '٠٥٠٤٧١'])('the code may be typed as %j', async (code) => {
  expect(await checkCode(secret, code, 1111111111_000)).toBe(0x23523ed)
})

test('a new secret has twenty random bytes, and comes with an address that authenticators read', async () => {
  const [first, second] = [
    await newSecret('example.org:8080', 'jo+1@example.org'),
    await newSecret('example.org:8080', 'jo+1@example.org'),
  ]
  expect(first.secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(Secret.fromBase32(first.secret).bytes).toHaveLength(20)
  expect(second.secret).not.toBe(first.secret)
  const uri = new URL(first.uri)
  expect(`${uri.protocol}//${uri.host}`).toBe('otpauth://totp')
  expect(decodeURIComponent(uri.pathname)).toBe('/example.org:8080:jo+1@example.org')
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    algorithm: 'SHA1',
    digits: '6',
    issuer: 'example.org:8080',
    period: '30',
    secret: first.secret,
  })
})

test('the QR code is SVG without #, which would end an address such as data:image/svg+xml;utf-8,<svg …', async () => {
  const { qrCode } = await newSecret('example.org', 'jo@example.org')
  expect(qrCode).toMatch(/^<\?xml [^>]*\?><svg [\s\S]*<\/svg>$/)
  expect(qrCode).not.toContain('#')
})
