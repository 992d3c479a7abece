import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { storedSession, needsSecondFactor, sessionKey } from './stored-session.ts'

const kept = new Map<string, string>()

beforeEach(() => {
  kept.clear()
  vi.stubGlobal('localStorage', { getItem: (key: string) => kept.get(key) ?? null })
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const now = Date.parse('2026-11-25T12:00:00Z')
const session = { access_token: 'token', expires_at: now / 1000 + 3600, user: { id: 'ada' } }

function keep(value: object) {
  vi.useFakeTimers({ now })
  kept.set(sessionKey, JSON.stringify(value))
}

test('the signed-in session is read from the browser’s store', () => {
  expect(sessionKey).toBe('unplugged-desk')
  expect(storedSession()).toBeNull()
  keep({ ...session, refresh_token: 'not read here' })
  expect(storedSession()).toEqual({ access_token: 'token', user: { id: 'ada' } })
})

test.each([
  ['ends in less than a minute and a half', { expires_at: now / 1000 + 90 }],
  ['is over', { expires_at: now / 1000 - 1 }],
  ['is not there', { access_token: '' }],
  ['is nobody’s', { user: {} }],
  ['has no user', { user: undefined }],
])('a token that %s is left to the sign-in’s own client', (_what, changed) => {
  keep({ ...session, ...changed })
  expect(storedSession()).toBeUndefined()
  keep({ ...session, expires_at: now / 1000 + 91 })
  expect(storedSession()).toBeDefined()
})

test('an unreadable session is left to the client too', () => {
  kept.set(sessionKey, '{')
  expect(storedSession()).toBeUndefined()
})

/** A token of this level. Its payload has both characters that base64url replaces. */
const tokenOf = (aal: string) =>
  `head.${Buffer.from(JSON.stringify({ aal, name: '???>>>~~~' })).toString('base64url')}.sign`

test.each([
  ['no factor', undefined, 'aal1', false],
  ['a factor that was only begun', [{ status: 'unverified' }], 'aal1', false],
  ['a factor', [{ status: 'unverified' }, { status: 'verified' }], 'aal1', true],
  ['a factor that was shown', [{ status: 'verified' }], 'aal2', false],
])('with %s the session is asked for it: %j, %s', (_what, factors, aal, isAsked) => {
  expect(tokenOf(aal)).toMatch(/[-_]/)
  expect(needsSecondFactor({ access_token: tokenOf(aal), user: { id: 'ada', factors } })).toBe(isAsked)
})
