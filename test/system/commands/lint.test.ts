import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

import { folders } from '../../../tools/arrows.js'

/** The fewest modules that the check must see: the project had 413 with imports when this was written. */
const fewestModules = 400

interface LintReport {
  diagnostics: { code: string; message: string; filename: string; labels: { span: { line: number } }[] }[]
}

/** The linter's findings in a folder with a configuration. */
async function lint(folder: string, configuration: string) {
  const command = [resolve('node_modules/oxlint/bin/oxlint'), '--format', 'json', '--config', configuration]
  const { stdout } = spawn(process.execPath, command, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  return (await json(stdout)) as LintReport
}

async function writeFolder(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'arrows-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}

// tools/arrows.txt lists the allowed imports, here called arrows. They begin at a folder, or at a file with its own row.

test('a forbidden import is refused in every notation, and so is a cycle of types', async () => {
  const rest = '../rest/data-interface.ts'
  const folder = await writeFolder({
    'src/server/http/errors.ts': `
      import { a } from '${rest}'
      import type { B } from '${rest}'
      export { c } from '${rest}'
      export * from '${rest}'
      export const d = () => import('${rest}')
      export type E = import('${rest}').E`,
    'src/pages/desk/kit/Button.tsx': `import { filters } from '../applications/filters.ts'`,
    'src/application/limits.ts': `import { readFile } from 'node:fs/promises'`,
    'src/client/act.ts': `import { useState } from 'react'`,
    'src/server/queue/queue.ts': `export const queue = []`,
    'src/server/pages/apply.ts': `
      import fastify from 'fastify'
      import { headers } from '../../pages/headers.ts'
      import { document } from '../../pages/document.tsx'`,
    'src/server/rest/rpc.test.ts': `import { app } from '../app.ts'`,
    'src/settings/names.ts': `
      import type { Value } from './values.ts'
      export interface Name { value: Value }`,
    'src/settings/values.ts': `
      import type { Name } from './names.ts'
      export interface Value { name: Name }`,
  })
  const { diagnostics } = await lint(folder, resolve('.oxlintrc.json'))
  const found = diagnostics.filter(({ code }) => /^arrows|no-cycle/.test(code))
  const refusal = (importer: string, target: string) =>
    `${importer} may not import ${target}: tools/arrows.txt does not allow it.`
  expect(found.map(({ message }) => message).toSorted()).toEqual(
    [
      ...Array.from({ length: 6 }, () => refusal('src/server/http', 'src/server/rest/data-interface.ts')),
      refusal('src/pages/desk/kit', 'src/pages/desk/applications/filters.ts'),
      refusal('src/application', 'node:'),
      refusal('src/client', 'react'),
      'tools/arrows.txt has no folder src/server/queue.',
      refusal('src/server/pages', 'src/pages/document.tsx'),
      'Dependency cycle detected',
      'Dependency cycle detected',
    ].toSorted(),
  )
})

test('the check sees the whole project, and every allowed import is used', async () => {
  const folder = await writeFolder({
    'all.json': JSON.stringify({
      jsPlugins: [resolve('tools/arrows.js')],
      categories: { correctness: 'off' },
      rules: { 'arrows/allowed': ['error', { refuseAll: true }] },
    }),
  })
  const { diagnostics } = await lint('.', join(folder, 'all.json'))
  expect(new Set(diagnostics.map(({ filename }) => filename)).size).toBeGreaterThanOrEqual(fewestModules)

  const arrows = diagnostics.map(
    ({ message }) => /^(\S+) may not import (\S+):/.exec(message)?.slice(1) ?? [],
  )
  const unused = [...folders].flatMap(([importer, allowed]) =>
    allowed
      .filter((each) => each !== '*')
      .filter(
        (each) =>
          !arrows.some(([from, to = '']) => from === importer && (to === each || dirname(to) === each)),
      )
      .map((each) => `${importer}: ${each}`),
  )
  expect(unused).toEqual([])
})

test('an exported declaration of the product has a docstring, and adjacent constants share one', async () => {
  const folder = await writeFolder({
    'src/settings/names.ts': `
      import type { Value } from './values.ts'

      export interface Name { value: Value }

      // A plain comment.
      export const first = 1
      export const second = 2
      export function overloaded(name: string): string
      export function overloaded(name: string) { return name }`,
    'src/settings/values.ts': `
      /** A value. */
      export type Value = string

      /** The labels. */
      export const send = 'Send'
      export const cancel = 'Cancel'

      /** Trims a value. */
      export function trim(value: string): string
      export function trim(value: Value) { return value.trim() }`,
  })
  const { diagnostics } = await lint(folder, resolve('.oxlintrc.json'))
  const found = diagnostics.filter(({ code }) => code.startsWith('docstrings'))
  expect(found.map(({ filename, labels }) => [basename(filename), labels[0]?.span.line])).toEqual([
    ['names.ts', 4],
    ['names.ts', 7],
    ['names.ts', 9],
  ])
})

test('docs/architecture.md describes each folder of src/ that tools/arrows.txt names', async () => {
  const docs = await readFile('docs/architecture.md', 'utf8')
  const productFolders = [...folders.keys()].filter((each) => each.startsWith('src/'))
  expect(productFolders.filter((each) => !new RegExp(`[\`/]${basename(each)}/?\``).test(docs))).toEqual([])
})

test('the two ways of docs/architecture.md are calls in that order, through files that are each named once', async () => {
  const docs = await readFile('docs/architecture.md', 'utf8')
  const read = (path: string) => readFile(path, 'utf8')
  // Parts are started by these, and an organiser's calls by the desk.
  const entries = ['src/server/app.ts', 'src/server/main.ts', 'src/client/desk/calls.ts']
  const begun = (await Promise.all(entries.map(read))).join('')
  const ways = [...docs.matchAll(/\n\| from an? .* \| \|\n\| --- \| --- \|\n((?:\|.*\n)+)/g)]
  expect(ways).toHaveLength(2)
  for (const [, rows = ''] of ways) {
    const steps = Array.from(rows.matchAll(/^\| `(.+?)` \| .*?`(\w+)`/gm), ([, path = '', name = '']) => ({
      path,
      name,
    }))
    expect(steps.length).toBe(rows.trim().split('\n').length)
    expect(steps.length).toBeGreaterThan(10)
    expect(new Set(steps.map(({ path }) => path)).size).toBe(steps.length)
    let earlier = begun
    for (const { path, name } of steps) {
      const text = await read(path)
      expect(text, `the file ${path}`).toMatch(new RegExp(`function (?:\\w+\\.)?${name}\\b`))
      const table = new RegExp(`execute function private\\.${name}\\b`).test(text)
        ? / on \w+\.(\w+)\s+(?:for|referencing)/.exec(text.slice(text.search(/^create trigger/m)))?.[1]
        : undefined
      expect(earlier, `what calls ${name}`).toContain(table ?? name)
      earlier += text
    }
  }
})
