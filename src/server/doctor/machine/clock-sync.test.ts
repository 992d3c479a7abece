import { expect, test } from 'vitest'

import { checkNtp } from './clock-sync.ts'

test.each([
  ['yes\n', 'ok'],
  ['no\n', 'wrong'],
  ['', 'not known'],
])('the doctor asks systemd whether NTP keeps the clock: %j', async (answer, verdict) => {
  expect(await checkNtp(async () => answer)).toMatchObject({ verdict })
})

test('without systemd, it is not known whether NTP keeps the clock', async () => {
  expect(await checkNtp(() => Promise.reject(new Error('spawn timedatectl ENOENT')))).toMatchObject({
    verdict: 'not known',
  })
})
