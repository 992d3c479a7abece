import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** What is in the files of some folders whose names end so. */
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
const styled = [...styles.matchAll(/([^{}]+)\{/g)].flatMap(([, selector = '']) =>
  [...selector.matchAll(/\.([a-z][a-z-]*)/g)].map(([, name = '']) => name),
)
const given = [...source.matchAll(/[cC]lass(?:Name)?="([^"]+)"/g)].flatMap(([, names = '']) =>
  names.split(' '),
)

test('every class that has a style is given to something', () => {
  const words = source + withoutComments(read(/\.tsx$/, 'src/pages', 'src/design'))
  expect(styled.filter((name) => !new RegExp(`['"\` ]${name}['"\` ]`).test(words))).toEqual([])
})

test('every class that something is given has a style, or is looked for', () => {
  const lookedFor = source + read(/\.ts$/, 'e2e', 'testing')
  const isLookedFor = (name: string) => new RegExp(`[.]${name}(?![\\w-])`).test(lookedFor)
  expect(given.filter((name) => !styled.includes(name) && !isLookedFor(name))).toEqual([])
})
