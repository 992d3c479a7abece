import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { breaks } from '../test/support/breaks.ts'
import { filesWithMarks, withOnlyMarked } from '../test/support/breaks/break-comments.ts'
import { placesOf, readProduct } from '../test/support/breaks/source-places.ts'

const security = 'docs/security.md'

// A break is a deliberate fault in the product, with which the test below `// break: <id>` has to fail. test/support/breaks/
// lists them.

test('each listed break can still be made: its declaration has its expression exactly once', async () => {
  const product = await readProduct()
  const outdated = breaks.filter((each) => 'find' in each && placesOf(each, product).length !== 1)
  expect(outdated).toEqual([])
})

test('each break has a test below a comment with its id, and no comment has another id', async () => {
  const marks = await filesWithMarks()
  expect([...marks.keys()].toSorted()).toEqual(breaks.map(({ id }) => id).toSorted())
  for (const [id, files] of marks) {
    for (const file of files) {
      const source = await readFile(file, 'utf8')
      expect(() => withOnlyMarked(source, id)).not.toThrow()
    }
  }
})

test('each promise of a break is one of docs/security.md', async () => {
  const text = (await readFile(security, 'utf8')).replaceAll(/\s+/g, ' ')
  expect(breaks.filter(({ promise }) => promise !== undefined && !text.includes(promise))).toEqual([])
})

test('each promise of docs/security.md has a break: every table row, and every bullet about letters', async () => {
  const text = await readFile(security, 'utf8')
  const rows = Array.from(text.matchAll(/^\| (.+?) \|/gm), ([, cell = '']) => cell)
  const [, letters = ''] = /^## Letters\n(.*?)^## /ms.exec(text) ?? []
  const bullets = Array.from(letters.matchAll(/^- \*\*(.+?)\*\*/gm), ([, words = '']) => words)
  const promises = [...rows.filter((cell) => !/^(promise|against|---)$/.test(cell)), ...bullets]
  expect(promises.filter((each) => breaks.every(({ promise }) => promise?.includes(each) !== true))).toEqual(
    [],
  )
})
