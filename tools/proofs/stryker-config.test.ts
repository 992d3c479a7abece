import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

test('each file that test:mutation names exists, so that a renamed file stays in it or out of it', async () => {
  const { mutate, ignorePatterns } = JSON.parse(
    await readFile('tools/proofs/stryker.config.json', 'utf8'),
  ) as Record<'mutate' | 'ignorePatterns', string[]>
  // Without a slash, a pattern also leaves out folders of its name below src/.
  expect(ignorePatterns.filter((pattern) => !pattern.includes('/'))).toEqual([])
  const files = mutate.filter((pattern) => !pattern.includes('*')).map((pattern) => pattern.replace('!', ''))
  expect(files.filter((file) => !existsSync(file))).toEqual([])
  // A pattern of several names would hide that one of them is missing.
  expect(mutate.filter((pattern) => pattern.includes('{'))).toEqual([])
})
