import { expect, test } from 'vitest'

import { hashPassword, isPassword } from './passwords.ts'

test('a password is its own and no other, and nobody has one where none is stored', async () => {
  const stored = await hashPassword('correct horse')
  expect(stored).toMatch(/^\$2[aby]\$10\$/)
  expect(await isPassword('correct horse', stored, 'stranger')).toBe(true)
  expect(await isPassword('correct hors', stored, 'stranger')).toBe(false)
  expect(await isPassword('correct horse', null, 'stranger')).toBe(false)
  expect(await isPassword('', undefined, 'stranger')).toBe(false)
})

test('a crowd that signs in is refused beyond a bound, and keeps out nobody who has', async () => {
  const crowd = Array.from({ length: 66 }, () => isPassword('a guess', undefined, 'stranger', 4))
  const own = hashPassword('correct horse')
  const outcomes = await Promise.allSettled(crowd)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2)
  await expect(crowd.at(-1)).rejects.toMatchObject({ status: 503 })
  expect(await own).toMatch(/^\$2/)
  expect(await isPassword('a guess', undefined, 'stranger')).toBe(false)
})
