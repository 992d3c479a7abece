import { expect, test } from 'vitest'

import { checkSupport } from './node-security-releases.ts'

test.each([
  ['20.19.0', '2026-04-30T23:59:59Z', undefined],
  ['20.19.0', '2026-05-01T00:00:00Z', '2026-04-30'],
  ['24.21.0', '2026-11-24T00:00:00Z', undefined],
  ['24.21.0', '2028-05-01T00:00:00Z', '2028-04-30'],
  // The end is unknown for versions that are newer than this program.
  ['30.1.0', '2040-01-01T00:00:00Z', undefined],
  ['31.0.0-nightly', '2040-01-01T00:00:00Z', undefined],
])('Node.js %s on %s: the reported end of security releases is %s', (version, now, lastDay) => {
  const { problem } = checkSupport(version, new Date(now), '')
  expect(problem?.split(':')[0]).toBe(
    lastDay && `Node.js ${version} has had no security releases since ${lastDay}`,
  )
})

test.each([
  ['20.19.2', 'debian 13', '2026-11-24T00:00:00Z', '20.19.2 of Debian 13', undefined],
  ['20.19.2', 'debian 13', '2028-08-10T00:00:00Z', '20.19.2 of Debian 13', '2028-08-09'],
  // Debian 13 has no other version than 20, and no other distribution is known to fix its own.
  ['21.1.0', 'debian 13', '2026-11-24T00:00:00Z', '21.1.0', '2024-06-01'],
  ['20.19.2', 'gentoo undefined', '2026-11-24T00:00:00Z', '20.19.2', '2026-04-30'],
])('Node.js %s of %s on %s counts as %s, whose end is %s', (version, distribution, now, shown, lastDay) => {
  const support = checkSupport(version, new Date(now), distribution)
  expect(support.version).toBe(shown)
  expect(support.problem?.split(':')[0]).toBe(
    lastDay && `Node.js ${version} has had no security releases since ${lastDay}`,
  )
})
