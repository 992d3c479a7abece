import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../../support/server.ts'
import { buildCopy, copyCheckout } from '../../support/static-site.ts'

/** Reads all files of a build, by their names. */
async function filesOf(folder: string) {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = await Promise.all(files.map((file) => readFile(file, 'base64')))
  return Object.fromEntries(files.map((file, index) => [file.slice(folder.length), contents[index]]))
}

test("another page in the build does not change the applicants' page, its script, or its headers", async () => {
  const directory = await temporaryDirectory()
  const alone = await copyCheckout(join(directory.path, 'alone'))
  await buildCopy(alone, {})
  const before = await filesOf(join(alone, 'dist'))
  expect(Object.keys(before)).toContain('/index.html')

  const both = await copyCheckout(join(directory.path, 'both'))
  // The second page shares all common modules with the first: React, the client, the palette, the drawings.
  const pages = join(both, 'src', 'pages')
  await cp(join(pages, 'apply'), join(pages, 'second'), { recursive: true })
  const entry = await readFile(join(pages, 'second', 'main.tsx'), 'utf8')
  await writeFile(join(pages, 'second', 'main.tsx'), `${entry}console.log('the second page')\n`)
  const render = await readFile(join(pages, 'second', 'render.tsx'), 'utf8')
  await writeFile(
    join(pages, 'second', 'render.tsx'),
    render.replace('page-script/apply', 'page-script/second'),
  )
  await buildCopy(both, {})
  const after = await filesOf(join(both, 'dist'))

  const added = Object.keys(after).filter((name) => !(name in before))
  expect(added.filter((name) => name.endsWith('.js'))).toEqual([
    expect.stringMatching(/^\/assets\/second-.*\.js$/),
  ])
  const changed = Object.entries(before).filter(([name, content]) => after[name] !== content)
  expect(changed.map(([name]) => name)).toEqual([])
})
