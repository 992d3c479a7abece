import { expect, test } from 'vitest'

import { hashPassword, isPassword, unmatchableHash } from './passwords.ts'

test('only the stored password matches, and none matches where none is stored', async () => {
  const stored = await hashPassword('correct horse')
  expect(stored).toMatch(/^\$2[aby]\$10\$/)
  expect(await isPassword('correct horse', stored, 'stranger')).toBe(true)
  expect(await isPassword('correct hors', stored, 'stranger')).toBe(false)
  expect(await isPassword('correct horse', null, 'stranger')).toBe(false)
  expect(await isPassword('', undefined, 'stranger')).toBe(false)
})

test('the placeholder password is compared in as many rounds as a stored one', async () => {
  const [, algorithm, rounds, saltAndHash = ''] = (await hashPassword('correct horse', 5)).split('$')
  // A string that is no hash would be compared in no round.
  expect(unmatchableHash(5).split('$')).toEqual([
    '',
    algorithm,
    rounds,
    expect.stringMatching(/^[./A-Za-z0-9]+$/),
  ])
  expect(unmatchableHash(5)).toHaveLength(`$${algorithm}$${rounds}$${saltAndHash}`.length)
})

test('a crowd of strangers is refused beyond a limit, and does not lock out signed-in people', async () => {
  const crowd = Array.from({ length: 66 }, () => isPassword('a guess', undefined, 'stranger', 4))
  const own = hashPassword('correct horse')
  const outcomes = await Promise.allSettled(crowd)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2)
  await expect(crowd.at(-1)).rejects.toMatchObject({ status: 503 })
  expect(await own).toMatch(/^\$2/)
  expect(await isPassword('a guess', undefined, 'stranger')).toBe(false)
})
