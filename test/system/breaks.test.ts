import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { breaks, filesWithMarks, withOnlyMarked } from '../support/breaks.ts'

const security = 'docs/security.md'

/** A document's text on one line, without comment markers. */
const textOf = async (file: string) =>
  (await readFile(file, 'utf8')).replaceAll(/\s*\n\s*(?:--|\*|\/\/)?\s*/g, ' ')

// A break is a deliberate fault in the product, with which the test below `// break: <id>` has to fail. test/support/breaks/
// lists them.

test('each listed break can still be made', async () => {
  const outdated = []
  for (const { effect, changedFile, find } of breaks) {
    const times = (await readFile(changedFile, 'utf8')).split(find).length - 1
    if (times !== 1) outdated.push(`${effect}: ${times} times in ${changedFile}`)
  }
  expect(outdated).toEqual([])
})

test('each break has a test below a comment with its id, and no comment has another id', async () => {
  const marks = await filesWithMarks()
  expect([...marks.keys()].toSorted()).toEqual(breaks.map(({ id }) => id).toSorted())
  for (const [id, files] of marks) {
    for (const file of files) {
      const source = await readFile(file, 'utf8')
      expect(() => withOnlyMarked(source, id), file).not.toThrow()
    }
  }
})

test('each break names an existing promise', async () => {
  const unknown = []
  for (const { effect, promise, document = security } of breaks) {
    if (!(await textOf(document)).includes(promise))
      unknown.push(`${effect}: ${document} has no “${promise}”`)
  }
  expect(unknown).toEqual([])
})

test('each promise of docs/security.md has a break: every table row, and every bullet about letters', async () => {
  const text = await readFile(security, 'utf8')
  const rows = Array.from(text.matchAll(/^\| (.+?) \|/gm), ([, cell = '']) => cell)
  const [, letters = ''] = /^## Letters\n(.*?)^## /ms.exec(text) ?? []
  const bullets = Array.from(letters.matchAll(/^- \*\*(.+?)\*\*/gm), ([, words = '']) => words)
  const promises = [...rows.filter((cell) => !/^(promise|against|---)$/.test(cell)), ...bullets]
  expect(promises.filter((each) => breaks.every(({ promise }) => !promise.includes(each)))).toEqual([])
})
