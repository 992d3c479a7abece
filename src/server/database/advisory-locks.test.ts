import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

import { advisoryLocks } from './advisory-locks.ts'

test('each advisory lock has a key of its own, and the schema takes only locks of the register', () => {
  const keys = Object.values(advisoryLocks)
  expect(new Set(keys).size).toBe(keys.length)
  const schema = ['supabase/schemas', 'src/server/database/schemas']
    .flatMap((folder) => readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8')))
    .join('')
  const taken = [...schema.matchAll(/advisory_\w*lock\w*\((\d+)\)/g)].map(([, key]) => Number(key))
  expect(taken.length).toBeGreaterThan(0)
  for (const key of taken) expect(keys).toContain(key)
})
