import { expect, test } from 'vitest'

import { advisoryLocks } from './advisory-locks.ts'
import { declaredFiles } from '../schema/declared-files.ts'

test('each advisory lock has a key of its own, and the schema takes only locks of the register', () => {
  const keys = Object.values(advisoryLocks)
  expect(new Set(keys).size).toBe(keys.length)
  const schema = declaredFiles.map(({ text }) => text).join('')
  const taken = [...schema.matchAll(/advisory_\w*lock\w*\(([^,)]*)/g)].map(([, key]) => Number(key))
  expect(taken.length).toBeGreaterThan(0)
  for (const key of taken) expect(keys).toContain(key)
})
