import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

import { versionOf } from '../../tools/version.js'
import { version } from './version.ts'

/** Creates a repository with one commit and a package.json; returns its folder and its commit. */
function makeRepository(packageVersion: string) {
  const folder = mkdtempSync(join(tmpdir(), 'unplugged-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writePackage(folder, packageVersion)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...words], {
      cwd: folder,
    })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'First')
  return { folder, commit: git('rev-parse', 'HEAD').toString().slice(0, 7) }
}

function writePackage(folder: string, packageVersion: string) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: packageVersion }))
}

test('between releases a version names its commit; the version of a release is only a number', () => {
  const { folder, commit } = makeRepository('1.1.0-dev')
  expect(versionOf(folder)).toBe(`1.1.0-dev+${commit}`)
  writePackage(folder, '1.1.0')
  expect(versionOf(folder)).toBe('1.1.0')
})

test('the version of a copy of the sources without history names no commit, not even that of a repository around the copy', () => {
  const copy = join(makeRepository('1.1.0').folder, 'copy')
  mkdirSync(copy)
  writePackage(copy, '1.1.0-dev')
  expect(versionOf(copy)).toBe('1.1.0-dev')
})

test('the running version is that of the sources that it was built from', () => {
  expect(version).toBe(versionOf('.'))
})
