import { expect, test } from 'vitest'

import { mendedDeskHash, mendedLink, tokenIn } from './mended-link.ts'

const token = '6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11'

/** The mended path, query and fragment of an address; undefined if it needs no mending. */
const mended = (address: string) => mendedLink(new URL(address, 'https://example.org'))

test.each([
  [`/answer/%23${token}`, `/answer/#${token}`],
  [`/answer%23${token}`, `/answer/#${token}`],
  [`/answer/%2523${token}`, `/answer/#${token}`],
  [`/answer/${token}`, `/answer/#${token}`],
  [`/retreat/answer/index.html%23${token}`, `/retreat/answer/#${token}`],
  [`/answer/%23${token}?utm_source=x`, `/answer/#${token}?utm_source=x`],
  [`/withdraw%23${token}.`, `/withdraw/#${token}.`],
  [`/retreat/Withdraw/${token}`, `/retreat/withdraw/#${token}`],
  [`/ANSWER/#${token}`, `/answer/#${token}`],
  [`/Answer/%23${token.toUpperCase()}.`, `/answer/#${token.toUpperCase()}.`],
  ['/desk%23token_hash=ab&type=magiclink', '/desk/#token_hash=ab&type=magiclink'],
  ['/desk%23token_hash%3Dab%26type%3Dmagiclink', '/desk/#token_hash=ab&type=magiclink'],
  ['/desk/%23/applications/1?status=all', '/desk/#/applications/1?status=all'],
  ['/desk.', '/desk/'],
  ['/desk/).', '/desk/'],
  ['/desk%22#/account', '/desk/#/account'],
  ['/desk/%23', '/desk/'],
  ['/answer/%E0%A4%A', '/answer/#%E0%A4%A'],
])('the link %s leads to %s', (address, expected) => {
  expect(mended(address)).toBe(expected)
})

test.each([
  '/',
  '/desk',
  '/desk/',
  '/desk/index.html',
  `/answer/#${token}`,
  `/answer/?utm_source=x#${token}`,
  '/desk#token_hash=ab&type=magiclink',
  '/assets/desk-Ab12.js',
  '/desktop',
  '/withdrawn',
  '/elsewhere',
])('the address %s needs no mending', (address) => {
  expect(mended(address)).toBeUndefined()
})

test.each(['', '.', ')', '?utm_source=x', '%3Fa', '>', '…', ' and more'])(
  'the token of a link is read before “%s”, in any case',
  (end) => {
    expect(tokenIn(`#${token}${end}`)).toBe(token)
    expect(tokenIn(`#${token.toUpperCase()}${end}`)).toBe(token)
  },
)

test('a fragment without a token stays as it is', () => {
  expect([tokenIn('#example'), tokenIn('')]).toEqual(['example', ''])
})

const hex = 'AB'.repeat(32)

test.each([
  ['#token_hash=abC-1&type=magiclink', '#token_hash=abC-1&type=magiclink'],
  ['#token_hash=pkce_ab&type=email_change', '#token_hash=pkce_ab&type=email_change'],
  ['#token_hash=ab&type=magiclink.', '#token_hash=ab&type=magiclink'],
  ['#token_hash=ab&type=magiclink?utm_source=x', '#token_hash=ab&type=magiclink'],
  ['#token_hash=ab&amp;type=magiclink', '#token_hash=ab&type=magiclink'],
  ['#token_hash%3Dab%26type%3Drecovery%3E', '#token_hash=ab&type=recovery'],
  [`#TOKEN_HASH=${hex}&TYPE=MAGICLINK`, `#token_hash=${hex.toLowerCase()}&type=magiclink`],
  ['#/applications/1).', '#/applications/1'],
  ['#/?q=Inc.', '#/?q=Inc.'],
  ['#access_token=a.b.c&refresh_token=d', '#access_token=a.b.c&refresh_token=d'],
  ['', ''],
])('the desk reads the fragment %s as %s', (hash, expected) => {
  expect(mendedDeskHash(hash)).toBe(expected)
})
