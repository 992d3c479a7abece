import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { breaks } from '../testing/breaks.ts'

const security = 'docs/security.md'

/** A document's text on one line, without the signs that begin the lines of a comment. */
const textOf = async (file: string) =>
  (await readFile(file, 'utf8')).replaceAll(/\s*\n\s*(?:--|\*|\/\/)?\s*/g, ' ')

test('each listed break can still be made', async () => {
  const outdated = []
  for (const { broken, file, find } of breaks) {
    const times = (await readFile(file, 'utf8')).split(find).length - 1
    if (times !== 1) outdated.push(`${broken}: ${times} times in ${file}`)
  }
  expect(outdated).toEqual([])
})

test('the test that is to die of a break is there, by its file and its name', async () => {
  const missing = []
  for (const { broken, test: file, name } of breaks) {
    const source = await readFile(file, 'utf8').catch(() => '')
    if (!["'", '"', '`'].some((quote) => source.includes(quote + name + quote)))
      missing.push(`${broken}: ${file} has no “${name}”`)
  }
  expect(missing).toEqual([])
})

test('each break names a promise that is made', async () => {
  const unknown = []
  for (const { broken, promise, of = security } of breaks) {
    if (!(await textOf(of)).includes(promise)) unknown.push(`${broken}: ${of} has no “${promise}”`)
  }
  expect(unknown).toEqual([])
})

test('each promise of docs/security.md is broken by one: the rows of its tables, and what is said of letters', async () => {
  const text = await readFile(security, 'utf8')
  const rows = Array.from(text.matchAll(/^\| (.+?) \|/gm), ([, cell = '']) => cell)
  const [, letters = ''] = /^## Letters\n(.*?)^## /ms.exec(text) ?? []
  const bullets = Array.from(letters.matchAll(/^- \*\*(.+?)\*\*/gm), ([, words = '']) => words)
  const promises = [...rows.filter((cell) => !/^(promise|against|---)$/.test(cell)), ...bullets]
  expect(promises.filter((each) => breaks.every(({ promise }) => !promise.includes(each)))).toEqual([])
})
