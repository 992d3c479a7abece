import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { temporaryDirectory } from '../../support/server.ts'
import { buildCopy, copyCheckout, writeSite } from '../../support/static-site.ts'

/** Reads all files of a build, by their names. */
async function filesOf(folder: string) {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = await Promise.all(files.map((file) => readFile(file, 'base64')))
  return Object.fromEntries(files.map((file, index) => [file.slice(folder.length), contents[index]]))
}

const ownSettings = {
  VITE_SUPABASE_URL: 'https://project.example',
  VITE_SUPABASE_ANON_KEY: 'public-key',
  VITE_SITE_TITLE: 'Slow & <Steady>',
  VITE_SITE_ACCENT: '7a0019',
}

/** A copy of this checkout, with a build of these settings. */
let built: string

beforeAll(async () => {
  built = await copyCheckout(join((await temporaryDirectory()).path, 'built'))
  await buildCopy(built, ownSettings)
})

test('`npm run build` writes the site that other tests write from their own build', async () => {
  const site = await writeSite((await temporaryDirectory()).path, ownSettings)
  // The desk's document names a script that contains the commit, and the copy has none.
  for (const name of ['index.html', 'answer/index.html', 'withdraw/index.html'])
    expect(await readFile(join(built, 'dist', name), 'utf8')).toBe(await readFile(join(site, name), 'utf8'))
})

test("another page in the build does not change the applicants' page, its script, or its headers", async () => {
  const before = await filesOf(join(built, 'dist'))
  expect(Object.keys(before)).toContain('/index.html')

  const both = await copyCheckout(join((await temporaryDirectory()).path, 'both'))
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
  await buildCopy(both, ownSettings)
  const after = await filesOf(join(both, 'dist'))

  const added = Object.keys(after).filter((name) => !(name in before))
  expect(added.filter((name) => name.endsWith('.js'))).toEqual([
    expect.stringMatching(/^\/assets\/second-.*\.js$/),
  ])
  const changed = Object.entries(before).filter(([name, content]) => after[name] !== content)
  expect(changed.map(([name]) => name)).toEqual([])
})

test('a build with a wrong setting ends with one sentence, and leaves the former site in place', async () => {
  const read = () =>
    Promise.all(['index.html', '_headers'].map((name) => readFile(join(built, 'dist', name), 'utf8')))
  const before = await read()
  const failure = (settings: Record<string, string>) =>
    buildCopy(built, settings).then(
      () => undefined,
      ({ code, stderr }: Error & { code: number; stderr: string }) => ({ code, stderr }),
    )
  expect(await failure({ VITE_SITE_ACCENT: '#ffee99' })).toEqual({
    code: 1,
    stderr:
      'VITE_SITE_ACCENT is "#ffee99", whose contrast with the page is 1.0 to 1 but should be at least 4.5 to 1: choose a darker colour, such as "#7a6600".\n',
  })
  await writeFile(join(built, '.env'), 'VITE_SITE_ACCENT=#7a1f3d\n')
  expect(await failure({})).toEqual({
    code: 1,
    stderr:
      'VITE_SITE_ACCENT in .env ends before its sign #, which begins a comment: put the value in quotes.\n',
  })
  await rm(join(built, '.env'))
  expect(await read()).toEqual(before)
})
