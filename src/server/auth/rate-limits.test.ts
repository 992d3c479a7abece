import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'

import { createLimit } from './rate-limits.ts'

/** Calls from an address at a time in seconds, and tells whether each was let through. */
function caller(calls: number, minutes: number) {
  let seconds = 0
  const limit = createLimit(calls, minutes, () => seconds * 1000)
  return (ip: string, at: number) => {
    seconds = at
    let refusal: Error | undefined
    limit({ ip } as FastifyRequest, undefined, (error) => (refusal = error))
    return refusal === undefined
  }
}

test('an address has its calls at once, and then as many as come back with time', () => {
  const call = caller(30, 5)
  const atOnce = Array.from({ length: 31 }, () => call('192.0.2.1', 0))
  expect(atOnce).toEqual([...Array<boolean>(30).fill(true), false])
  expect(call('192.0.2.1', 9)).toBe(false)
  expect(call('192.0.2.1', 10)).toBe(true)
  expect(call('192.0.2.1', 10)).toBe(false)
  expect(call('192.0.2.2', 10)).toBe(true)
  // However long nobody came: no more than at first.
  const later = Array.from({ length: 31 }, () => call('192.0.2.1', 100_000))
  expect(later.filter(Boolean)).toHaveLength(30)
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['2001:db8::1', '2001:db8:0:0:5::1', true],
  ['::1', '::2', true],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ['192.0.2.1', '192.0.2.2', false],
])('%s and %s are one household: %s', (one, other, isOne) => {
  const call = caller(1, 5)
  expect(call(one, 0)).toBe(true)
  expect(call(other, 0)).toBe(!isOne)
})
