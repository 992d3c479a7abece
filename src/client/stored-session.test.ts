import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { storedSession, needsSecondFactor, sessionKey } from './stored-session.ts'

const stored = new Map<string, string>()

beforeEach(() => {
  stored.clear()
  vi.stubGlobal('localStorage', { getItem: (key: string) => stored.get(key) ?? null })
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const now = Date.parse('2026-11-25T12:00:00Z')
const session = { access_token: 'token', expires_at: now / 1000 + 3600, user: { id: 'ada' } }

function store(value: object) {
  vi.useFakeTimers({ now })
  stored.set(sessionKey, JSON.stringify(value))
}

test('the signed-in session is read from the browser’s store', () => {
  expect(sessionKey).toBe('unplugged-desk')
  expect(storedSession()).toBeNull()
  store(session)
  expect(storedSession()).toEqual(session)
})

test.each([
  ['expires within 90 seconds', { expires_at: now / 1000 + 90 }],
  ['has expired', { expires_at: now / 1000 - 1 }],
  ['has no token', { access_token: '' }],
  ['has a user without an id', { user: {} }],
  ['has no user', { user: undefined }],
])('the auth client has to read a stored session that %s', (_name, changed) => {
  store({ ...session, ...changed })
  expect(storedSession()).toBeUndefined()
  store({ ...session, expires_at: now / 1000 + 91 })
  expect(storedSession()).toBeDefined()
})

test('the auth client has to read a stored session that cannot be parsed', () => {
  stored.set(sessionKey, '{')
  expect(storedSession()).toBeUndefined()
})

/** Makes a token of this level. Its payload contains `-` and `_`, which base64url has in place of `+` and `/`. */
const tokenOf = (aal: string) =>
  `head.${Buffer.from(JSON.stringify({ aal, name: '???>>>~~~' })).toString('base64url')}.sign`

test.each([
  ['no factor', undefined, 'aal1', false],
  ['an unverified factor', [{ status: 'unverified' }], 'aal1', false],
  ['a verified factor', [{ status: 'unverified' }, { status: 'verified' }], 'aal1', true],
  ['a verified factor that it used', [{ status: 'verified' }], 'aal2', false],
])('a session with %s (%j, %s) needs a second factor: %s', (_name, factors, aal, isNeeded) => {
  expect(tokenOf(aal)).toMatch(/[-_]/)
  expect(needsSecondFactor({ access_token: tokenOf(aal), user: { id: 'ada', factors } })).toBe(isNeeded)
})
