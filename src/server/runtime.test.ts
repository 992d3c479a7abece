import { expect, test } from 'vitest'

import { checkSupport } from './runtime.ts'

test.each([
  ['20.19.0', '2026-04-30T23:59:59Z', undefined],
  ['20.19.0', '2026-05-01T00:00:00Z', '2026-04-30'],
  ['24.21.0', '2026-11-24T00:00:00Z', undefined],
  ['24.21.0', '2028-05-01T00:00:00Z', '2028-04-30'],
  // The end is unknown for versions that are newer than this program.
  ['30.1.0', '2040-01-01T00:00:00Z', undefined],
  ['31.0.0-nightly', '2040-01-01T00:00:00Z', undefined],
])('Node.js %s on %s: the reported end of security releases is %s', (version, now, lastDay) => {
  const { problem } = checkSupport(version, new Date(now))
  expect(problem?.split(':')[0]).toBe(
    lastDay && `Node.js ${version} has had no security releases since ${lastDay}`,
  )
})
