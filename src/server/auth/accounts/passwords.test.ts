import { expect, test } from 'vitest'

import { hashPassword, isPassword, unmatchableHash } from './passwords.ts'

test('only the stored password matches, and no password matches if none is stored', async () => {
  const stored = await hashPassword('correct horse')
  expect(stored).toMatch(/^\$2[aby]\$10\$/)
  expect(await isPassword('correct horse', stored, 'stranger')).toBe(true)
  expect(await isPassword('correct hors', stored, 'stranger')).toBe(false)
  expect(await isPassword('correct horse', null, 'stranger')).toBe(false)
  expect(await isPassword('', undefined, 'stranger')).toBe(false)
})

test('the unmatchable hash has the same algorithm, rounds and length as a stored hash', async () => {
  const [, algorithm, rounds, saltAndHash = ''] = (await hashPassword('correct horse', 5)).split('$')
  // bcrypt refuses a malformed hash before the first round. That would take less time, and reveal a missing account.
  expect(unmatchableHash(5).split('$')).toEqual([
    '',
    algorithm,
    rounds,
    expect.stringMatching(/^[./A-Za-z0-9]+$/),
  ])
  expect(unmatchableHash(5)).toHaveLength(`$${algorithm}$${rounds}$${saltAndHash}`.length)
})

test('strangers are refused if too many wait in the queue, and signed-in people are not locked out', async () => {
  const crowd = Array.from({ length: 66 }, () => isPassword('a guess', undefined, 'stranger', 4))
  const own = hashPassword('correct horse')
  const outcomes = await Promise.allSettled(crowd)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2)
  await expect(crowd.at(-1)).rejects.toMatchObject({ status: 503 })
  expect(await own).toMatch(/^\$2/)
  expect(await isPassword('a guess', undefined, 'stranger')).toBe(false)
})
