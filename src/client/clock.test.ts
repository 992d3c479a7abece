import { expect, test, vi } from 'vitest'

import { atTestEnd } from '../../test/support/cleanup.ts'
import { secondsAhead, serverTime } from './clock.ts'

const now = Date.parse('2026-11-25T12:00:00Z')

/** Stores a session that a server gave for an hour, when this browser's clock was ahead by this many seconds. */
function storeSession(ahead: number) {
  const iat = now / 1000 - ahead
  const claims = Buffer.from(JSON.stringify({ iat, exp: iat + 3600 })).toString('base64url')
  store({ access_token: `head.${claims}.sign`, expires_at: now / 1000 + 3600, user: { id: 'ada' } })
}

function store(session: object | null) {
  atTestEnd(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
  vi.useFakeTimers({ now })
  vi.stubGlobal('localStorage', { getItem: () => session && JSON.stringify(session) })
}

test.each([3660, -300, 0])('a clock that was %i seconds ahead when the session arrived is known', (ahead) => {
  storeSession(ahead)
  for (const later of [now, now + 600_000]) {
    vi.setSystemTime(later)
    expect([secondsAhead(), serverTime(), serverTime(now)]).toEqual([
      ahead,
      later - ahead * 1000,
      now - ahead * 1000,
    ])
  }
})

test.each([-3660, 3660])('nothing is known of a clock that was set by %i seconds since', (seconds) => {
  storeSession(3660)
  vi.setSystemTime(now + seconds * 1000)
  expect(secondsAhead()).toBe(0)
})

test.each([
  ['nobody is signed in', null],
  ['the token is of another kind', { access_token: 'a', expires_at: now / 1000 + 3600, user: { id: 'ada' } }],
])('nothing is known of the clock if %s', (_name, session) => {
  store(session)
  expect([secondsAhead(), serverTime()]).toEqual([0, now])
})
