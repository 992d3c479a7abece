import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

/** The joined text of all files in the folders whose names match. */
const read = (ends: RegExp, ...folders: string[]) =>
  folders
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
    .filter((file) => ends.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

const withoutComments = (code: string) => code.replaceAll(/\/\*.*?\*\/|^\s*\/\/[^\n]*$/gms, '')

const desk = 'src/pages/desk'
const styles = withoutComments(read(/\.css$/, desk, 'src/design'))
const source = withoutComments(read(/(?<!\.test)\.tsx?$/, desk))
const classesIn = (sheet: string) =>
  [...sheet.matchAll(/([^{}]+)\{/g)].flatMap(([, selector = '']) =>
    [...selector.matchAll(/\.([a-z][a-z-]*)/g)].map(([, name = '']) => name),
  )
const styled = classesIn(styles)
const given = [...source.matchAll(/[cC]lass(?:Name)?="([^"]+)"/g)].flatMap(([, names = '']) =>
  names.split(' '),
)

/** The classes in `src/design`, shared by the form and the desk. */
const shared = ['choice', 'error', 'field', 'outcome', 'success', 'visually-hidden']

test('a class begins with the name of its style sheet', () => {
  const sheets = readdirSync(desk, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.css'))
  const own = new Set<string>()
  for (const sheet of sheets) {
    const begins = new RegExp(`^${basename(sheet, '.css').replace(/s$/, '')}s?-`)
    for (const name of classesIn(withoutComments(readFileSync(join(desk, sheet), 'utf8'))))
      if (begins.test(name)) own.add(name)
  }
  const ofDesk = classesIn(withoutComments(read(/\.css$/, desk)))
  expect(ofDesk.filter((name) => !own.has(name) && !shared.includes(name))).toEqual([])
})

test('text sizes and spaces use the scale', () => {
  const values = [
    ...read(/\.css$/, desk).matchAll(/^\s*((?:margin|[a-z]*-?gap|font-size)[a-z-]*): ([^;]+);/gm),
  ]
  const offScale = values.filter(([, , value = '']) => /(?<![\w.-])[\d.]+rem/.test(value))
  expect(offScale.map(([line]) => line.trim())).toEqual([])
})

test('every class with a style is used', () => {
  const words = source + withoutComments(read(/\.tsx$/, 'src/pages', 'src/design'))
  expect(styled.filter((name) => !new RegExp(`['"\` ]${name}['"\` ]`).test(words))).toEqual([])
})

test('every class in use has a style, or a script or test looks for it', () => {
  const lookedFor = source + read(/\.ts$/, 'e2e', 'testing')
  const isLookedFor = (name: string) => new RegExp(`[.]${name}(?![\\w-])`).test(lookedFor)
  expect(given.filter((name) => !styled.includes(name) && !isLookedFor(name))).toEqual([])
})
