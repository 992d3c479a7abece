import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

import { entryOf, scriptedPages } from '../../tools/pages.ts'

test('React runs each page in StrictMode', () => {
  expect(scriptedPages).not.toEqual([])
  for (const page of scriptedPages)
    expect(readFileSync(entryOf(page), 'utf8')).toMatch(/ = \(\n\s+<StrictMode>\n/)
})
