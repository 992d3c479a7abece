import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

import { problemWithName } from '../../../src/settings/names.ts'
import { runCommand } from '../../support/server.ts'

const pages = await readPages()

async function readPages() {
  const inDocs = (await readdir('docs', { recursive: true })).map((name) => join('docs', name))
  const paths = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'SECURITY.md',
    ...inDocs.filter((path) => path.endsWith('.md')),
  ]
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })))
}

/** All matches of a pattern in the docs, with their groups and pages. */
function find(pattern: RegExp) {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(([whole, ...groups]) => ({ path, whole, groups })),
  )
}

test('each command in the docs exists, with the options that the docs show', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Record<string, string>
  }
  const commands = find(/\bnpm (?:run (?:-s )?([\w:]+)|(start|test)\b)(?: -- ([^#`\n]*))?/g).map(
    ({ path, groups: [run, direct = '', args = ''] }) => ({ path, name: run ?? direct, args }),
  )
  expect(commands.filter(({ name }) => !(name in scripts))).toEqual([])
  expect(commands.length).toBeGreaterThan(60)

  const options = commands.flatMap(({ path, name, args }) =>
    (args.match(/(?<=^| )--[a-z-]+/g) ?? []).map((option) => ({ path, name, option })),
  )
  const help = new Map<string, string>()
  for (const { name } of options) {
    if (!help.has(name)) help.set(name, (await runCommand([name, '--help'], {})).stdout)
  }
  expect(options.filter(({ name, option }) => !help.get(name)?.includes(option))).toEqual([])
  expect(options.length).toBeGreaterThan(25)

  const benchCommands = commands.filter(({ name, args }) => name === 'bench' && args !== '')
  for (const { args } of benchCommands) expect(`bench/${args.split(' ')[0]}.ts`).toSatisfy(existsSync)
})

test('each setting in the docs exists', () => {
  const names = find(/\b[A-Z]+(?:_[A-Z]+)+\b/g)
  expect(names.length).toBeGreaterThan(100)
  expect(names.filter(({ whole }) => problemWithName(whole, false) !== undefined)).toEqual([])
})

test('each term of the glossary has a name that exists in the code', async () => {
  const glossary = await readFile('docs/glossary.md', 'utf8')
  const rows = glossary.match(/^\| (?!term |---).*$/gm) ?? []
  // A row in another form stays text, and fails the test.
  const terms = rows.map((row) => /^\| ([\w ]+) \| `([\w.]+)` \| [^.|]+\. \|$/.exec(row) ?? row)
  expect(terms.filter((term) => typeof term === 'string')).toEqual([])
  expect(terms.length).toBeGreaterThan(20)
  expect(terms.length).toBeLessThanOrEqual(30)

  const code = (await Promise.all(['src', 'supabase/schemas'].map(textsIn))).join('\n')
  const isInCode = (name: string) => new RegExp(`\\b${name.replaceAll('.', '\\.')}\\b`).test(code)
  const missing = terms.flatMap(([, term, name = '']) => (isInCode(name) ? [] : [`${term}: ${name}`]))
  expect(missing).toEqual([])
})

/** The text of all code in a folder. */
async function textsIn(folder: string) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(tsx?|sql)$/.test(name))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.join('\n')
}

test('the links of the README also work in the release archive', async () => {
  const [, listed = ''] =
    /^const copiedFiles = \[([^\]]*)\]$/m.exec(await readFile('tools/archive.ts', 'utf8')) ?? []
  const copied = Array.from(listed.matchAll(/'([^']+)'/g), ([, name]) => name)
  const readme = pages.find(({ path }) => path === 'README.md')?.text ?? ''
  const links = Array.from(readme.matchAll(/(?<!!)\[[^\]]*\]\(([^)#\s]+)/g), ([, to = '']) => to).filter(
    (to) => !/^https?:/.test(to),
  )
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((to) => !/^docs\/[\w-]+\.md$/.test(to) && !copied.includes(to.split('/')[0]))).toEqual(
    [],
  )
})

/** The docs pages that the program's messages refer to. */
async function pagesNamedByProgram() {
  const paths = (await readdir('src', { recursive: true })).filter((name) => /\.tsx?$/.test(name))
  const texts = await Promise.all(
    paths.map(async (name) => ({ path: join('src', name), text: await readFile(join('src', name), 'utf8') })),
  )
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(docs\/[\w./-]+\.md)(?:#([\w-]+))?/g)].map(([, file = '', anchor]) => ({
      path,
      file,
      anchor,
    })),
  )
}

test('all links in the docs, pages named by the program and named files exist, and each picture is shown', async () => {
  const inPages = find(/\]\(([^)\s]+)\)|src="([^"]+)"/g)
    .map(({ path, groups }) => ({ path, to: groups.find((group) => group !== undefined) ?? '' }))
    .filter(({ to }) => !/^https?:/.test(to))
    .map(({ path, to }) => {
      const [file = '', anchor] = to.split('#')
      return { path, file: file === '' ? path : join(dirname(path), file), anchor }
    })
  const links = [...inPages, ...(await pagesNamedByProgram())]
  expect(links.filter(({ file }) => !existsSync(file))).toEqual([])
  expect(links.length).toBeGreaterThan(50)

  const anchors = new Map(pages.map(({ path, text }) => [path, headingsOf(text).map(anchorOf)]))
  const withAnchor = links.filter(({ anchor }) => anchor !== undefined)
  expect(withAnchor.filter(({ file, anchor = '' }) => !anchors.get(file)?.includes(anchor))).toEqual([])

  const named = find(/`((?:src|test|demo|deploy|docs|supabase|tools|bench)\/[\w./-]+)`/g)
  expect(named.filter(({ groups: [file = ''] }) => !existsSync(file))).toEqual([])
  // Tests are also named by the end of their path.
  const files = (
    await Promise.all(['src', 'test', 'tools'].map((folder) => readdir(folder, { recursive: true })))
  )
    .flat()
    .map((file) => `/${file}`)
  const tests = find(/`([\w/-]+\.test\.tsx?)`/g).map(
    ({ groups: [name = ''] }) => `/${name.replace(/^(?:src|test|tools)\//, '')}`,
  )
  expect(tests.filter((name) => !files.some((file) => file.endsWith(name)))).toEqual([])

  const pictures = (await readdir('docs/images')).map((name) => join('docs', 'images', name))
  expect(pictures.filter((picture) => !links.some(({ file }) => file === picture))).toEqual([])
})

function headingsOf(text: string) {
  return text.match(/(?<=^#+ ).*$/gm) ?? []
}

/** The anchor that GitHub makes of a heading. */
function anchorOf(heading: string) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
