import { expect, test } from 'vitest'

import { addressOf, siteOf } from './site-url.ts'

test('the site is the configured address, or otherwise the address at which the server listens', () => {
  const listening = { address: '127.0.0.1', port: 3000, family: 'IPv4' }
  expect(siteOf('https://example.org/retreat', listening).href).toBe('https://example.org/retreat')
  expect(siteOf(undefined, listening).href).toBe('http://127.0.0.1:3000/')
  expect(addressOf('0.0.0.0', 3000).href).toBe('http://localhost:3000/')
  expect(addressOf('::', 3000).href).toBe('http://localhost:3000/')
  expect(addressOf('::1', 3000).href).toBe('http://[::1]:3000/')
})
