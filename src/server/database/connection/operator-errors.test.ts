import { readFile } from 'node:fs/promises'
import { lookup } from 'node:dns/promises'
import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'

import { lossError, unreachableError } from './operator-errors.ts'

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

test('a database that stops, is full or takes no writes is named in a sentence, and other errors of statements stay', () => {
  const sentenceOf = (code: string, databaseUrl?: string) => {
    const error = Object.assign(new DatabaseError('it failed', 0, 'error'), { code })
    return String(lossError(error, { dataDir: '/data', databaseUrl }, description))
  }
  for (const code of ['57P01', '57P02', '57014', '53100', '25006', '08006']) {
    expect(sentenceOf(code)).toMatch(
      /^Error: The database in DATA_DIR \("\/data"\) was lost or cannot write \(it failed\)/,
    )
    expect(sentenceOf(code, 'postgres://db.example')).toMatch(
      /which DATABASE_URL names, (cannot be used|takes no writes) \(it failed\)/,
    )
  }
  expect([sentenceOf('22023'), sentenceOf('22023', 'postgres://db.example')]).toEqual([
    'error: it failed',
    'error: it failed',
  ])
})
