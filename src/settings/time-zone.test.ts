import { expect, test, vi } from 'vitest'

import { atTestEnd } from '../../test/support/cleanup.ts'
import { resolveTimeZone } from './time-zone.ts'

/** The time zone that Node.js uses. */
const used = () => new Intl.DateTimeFormat('en').resolvedOptions().timeZone

function stubZone(zone: string | undefined) {
  vi.stubEnv('TZ', zone)
  atTestEnd(() => void vi.unstubAllEnvs())
}

function resolve(given: string) {
  stubZone(given)
  return resolveTimeZone()
}

test.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  [':Europe/Berlin', 'Europe/Berlin'],
  ['europe/berlin', 'Europe/Berlin'],
  ['/usr/share/zoneinfo/Europe/Berlin', 'Europe/Berlin'],
  [':/usr/share/zoneinfo/posix/America/Argentina/Salta', 'America/Argentina/Salta'],
  ['UTC', 'UTC'],
])('TZ=%s is the time zone %s', (given, zone) => {
  expect(resolve(given)).toBeUndefined()
  expect(used()).toBe(zone)
})

test(':/etc/localtime is the time zone of the machine, as without TZ', () => {
  stubZone(undefined)
  const machine = used()
  expect(resolveTimeZone()).toBeUndefined()
  for (const given of [':/etc/localtime', '/etc/localtime']) {
    stubZone('Asia/Tokyo')
    expect(resolve(given)).toBeUndefined()
    expect([process.env['TZ'], used()]).toEqual([undefined, machine])
  }
})

test.each(['Mars/Phobos', ':/nowhere/zone', 'CET-1CEST,M3.5.0,M10.5.0/3', 'JST-9', '+02:00', ' '])(
  'TZ=%s is no time zone, and a sentence says so',
  (given) => {
    expect(resolve(given)).toBe(
      `TZ is "${given}", which is no time zone, so that times of day may be those of UTC: name one, such as Europe/Berlin.`,
    )
    expect(process.env['TZ']).toBe(given)
  },
)
