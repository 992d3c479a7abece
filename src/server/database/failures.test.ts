import { readFile } from 'node:fs/promises'
import { lookup } from 'node:dns/promises'
import { expect, test } from 'vitest'

import { unreachableError } from './failures.ts'

const description = 'PostgreSQL at db.example'
const catchError = (work: Promise<unknown>) => work.then(String, (error: unknown) => error)

test('an error about a file does not blame DATABASE_URL, and an error of the network does', async () => {
  const fileError = await catchError(readFile('/etc/hostname/migrations'))
  expect(String(unreachableError(fileError, description))).toBe(
    'Error: "/etc/hostname/migrations" cannot be used (ENOTDIR): see that it is there, and that this user may read it.',
  )
  const networkError = await catchError(lookup('no-such-host.invalid'))
  expect(String(unreachableError(networkError, description))).toContain(
    'which DATABASE_URL names, cannot be used',
  )
})
