import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { breaks } from '../support/breaks.ts'

const security = 'docs/security.md'

/** A document's text on one line, without comment markers. */
const textOf = async (file: string) =>
  (await readFile(file, 'utf8')).replaceAll(/\s*\n\s*(?:--|\*|\/\/)?\s*/g, ' ')

// A break is a deliberate fault in the product, with which a named test has to fail. test/support/breaks/ lists them.

test('each listed break can still be made', async () => {
  const outdated = []
  for (const { effect, changedFile, find } of breaks) {
    const times = (await readFile(changedFile, 'utf8')).split(find).length - 1
    if (times !== 1) outdated.push(`${effect}: ${times} times in ${changedFile}`)
  }
  expect(outdated).toEqual([])
})

test('each break names an existing test, by file and title', async () => {
  const missing = []
  for (const { effect, testFile: file, testTitle } of breaks) {
    const source = await readFile(file, 'utf8').catch(() => '')
    if (!["'", '"', '`'].some((quote) => source.includes(quote + testTitle + quote)))
      missing.push(`${effect}: ${file} has no “${testTitle}”`)
  }
  expect(missing).toEqual([])
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
