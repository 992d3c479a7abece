import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

/** The joined text of the files in these folders whose paths match the pattern. */
const readFiles = (pattern: RegExp, ...folders: string[]) =>
  folders
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
    .filter((file) => pattern.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

const withoutComments = (code: string) => code.replaceAll(/\/\*.*?\*\/|^\s*\/\/[^\n]*$/gms, '')

const desk = 'src/pages/desk'
const styles = withoutComments(readFiles(/\.css$/, desk, 'src/design'))
const source = withoutComments(readFiles(/(?<!\.test)\.tsx?$/, desk))
const classesIn = (sheet: string) =>
  [...sheet.matchAll(/([^{}]+)\{/g)].flatMap(([, selector = '']) =>
    [...selector.matchAll(/\.([a-z][a-z-]*)/g)].map(([, name = '']) => name),
  )
const styledClasses = classesIn(styles)
const usedClasses = [...source.matchAll(/[cC]lass(?:Name)?="([^"]+)"/g)].flatMap(([, names = '']) =>
  names.split(' '),
)

/** The classes in `src/design`, shared by the form and the desk. */
const shared = ['choice', 'error', 'field', 'outcome', 'success', 'visually-hidden']

test('a class of the desk begins with the name of its style sheet', () => {
  const sheets = readdirSync(desk, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.css'))
  const withPrefix = new Set<string>()
  for (const sheet of sheets) {
    const prefix = new RegExp(`^${basename(sheet, '.css').replace(/s$/, '')}s?-`)
    for (const name of classesIn(withoutComments(readFileSync(join(desk, sheet), 'utf8'))))
      if (prefix.test(name)) withPrefix.add(name)
  }
  const deskClasses = classesIn(withoutComments(readFiles(/\.css$/, desk)))
  expect(deskClasses.filter((name) => !withPrefix.has(name) && !shared.includes(name))).toEqual([])
})

test('margins, gaps and text sizes use the custom properties of the scale, not rem', () => {
  const values = [
    ...readFiles(/\.css$/, desk).matchAll(/^\s*((?:margin|[a-z]*-?gap|font-size)[a-z-]*): ([^;]+);/gm),
  ]
  const offScale = values.filter(([, , value = '']) => /(?<![\w.-])[\d.]+rem/.test(value))
  expect(offScale.map(([line]) => line.trim())).toEqual([])
})

/** The breakpoints of the desk, as desk.css names them. */
const breakpoints = ['44rem', '52rem', '75rem', '28rem']

/** Where one part needs a breakpoint of its own. */
const ownBreakpoints: Record<string, string[]> = {
  // The smallest phones have no room for the position.
  'kit/layout.css': ['23rem'],
  // A third column.
  'applications/beside.css': ['100rem'],
  // The bar has room for so many buttons.
  'decisions/decisions.css': ['23rem', '100rem'],
  // Problems stay in view in high windows.
  'desk.css': ['36rem'],
}

test('the desk has four breakpoints, except where one part needs its own', () => {
  const files = readdirSync(desk, { recursive: true }).map(String)
  const others = files
    .filter((name) => /(?<!\.test)\.(css|tsx?)$/.test(name))
    .flatMap((name) => {
      const code = withoutComments(readFileSync(join(desk, name), 'utf8'))
      const queries = code.match(/@media[^{]+|'\([^']*(?:width|height)[^']*\)'/g) ?? []
      const lengths = queries.flatMap((query) => query.match(/[\d.]+(?:rem|px|em)/g) ?? [])
      const allowed = [...breakpoints, ...(ownBreakpoints[name] ?? [])]
      return lengths.filter((length) => !allowed.includes(length)).map((length) => `${name}: ${length}`)
    })
  expect(others).toEqual([])
})

test('no component focuses an element that it finds by its class, which only styles depend on', () => {
  const components = withoutComments(readFiles(/\.tsx$/, desk))
  expect(components.match(/querySelector(?:<\w+>)?\('[^']*\.[a-z][^']*'/g) ?? []).toEqual([])
})

test('every class with a style is used', () => {
  const allSource = source + withoutComments(readFiles(/\.tsx$/, 'src/pages', 'src/design'))
  expect(styledClasses.filter((name) => !new RegExp(`['"\` ]${name}['"\` ]`).test(allSource))).toEqual([])
})

test('every class in use has a style, or is looked for by a script or a test', () => {
  const lookedFor = source + readFiles(/\.ts$/, 'test', 'tools')
  const isLookedFor = (name: string) => new RegExp(`[.]${name}(?![\\w-])`).test(lookedFor)
  expect(usedClasses.filter((name) => !styledClasses.includes(name) && !isLookedFor(name))).toEqual([])
})

/** A selector that ends with any paragraph, span or link, such as `.x > a:hover`. */
const bareEnd = /(?<![\w.#:[-])(?:p|span|a)(?:[:[][^\s,>+~{]*)?\)*\s*[,{]/

test('only base styles and styles on paper are for paragraphs, spans and links without a class', () => {
  const names = readdirSync(desk, { recursive: true }).map(String)
  const others = names
    .filter((name) => name.endsWith('.css') && name !== 'print.css')
    .flatMap((name) => {
      const sheet = withoutComments(readFileSync(join(desk, name), 'utf8'))
      const selectors = sheet.replace(/^@layer base \{.*?^\}/ms, '').match(/[^{};]+\{/g) ?? []
      return selectors
        .filter((selector) => bareEnd.test(selector))
        .map((selector) => `${name}: ${selector.trim()}`)
    })
  expect(others).toEqual([])
})
