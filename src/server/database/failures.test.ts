import { readFile } from 'node:fs/promises'
import { lookup } from 'node:dns/promises'
import { expect, test } from 'vitest'

import { unreachableError } from './failures.ts'

const description = 'PostgreSQL at db.example'
const errorOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => error)

test('an error about a file does not blame DATABASE_URL, and an error of the network does', async () => {
  const ofFile = await errorOf(readFile('/etc/hostname/migrations'))
  expect(String(unreachableError(ofFile, description))).toBe(
    'Error: "/etc/hostname/migrations" cannot be used (ENOTDIR): see that it is there, and that this user may read it.',
  )
  const ofNetwork = await errorOf(lookup('no-such-host.invalid'))
  expect(String(unreachableError(ofNetwork, description))).toContain(
    'which DATABASE_URL names, cannot be used',
  )
})
