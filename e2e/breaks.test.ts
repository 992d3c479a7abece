import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { breaks } from '../testing/breaks.ts'

test('each listed break can still be made, and the test that is to die of it is there', async () => {
  const outdated = []
  for (const { broken, file, find, test: path } of breaks) {
    const times = (await readFile(file, 'utf8')).split(find).length - 1
    if (times !== 1 || !existsSync(path))
      outdated.push(`${broken}: ${times} times in ${file}, tested by ${path}`)
  }
  expect(outdated).toEqual([])
})
