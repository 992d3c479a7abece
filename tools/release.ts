/**
 * Makes a release without pushing it: `npm run release -- 1.1.0`. It sets the version, dates the changelog, freezes the new
 * migrations, runs the check, makes the archive, commits and tags. A second commit begins the next version.
 *
 * `--check <command>` replaces `npm run check`. `--to <folder>` is the folder of the archive.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs, promisify } from 'node:util'

import { OperatorError, runProgram } from '../src/settings/operator-error.ts'
import { freezeMigrations, releasedList } from './released-migrations.ts'
import { beginUnreleased, hasUnreleased, lastRelease, release } from './changelog.ts'

const run = promisify(execFile)
const changelog = 'CHANGELOG.md'
const changedFiles = ['package.json', 'package-lock.json', changelog, releasedList]

const git = async (...args: string[]) => (await run('git', args)).stdout.trim()

/** Runs a program with its output on the terminal. Throws if it fails. */
async function runOnTerminal(program: string, args: string[], shell = false) {
  const [status] = await once(spawn(program, args, { stdio: 'inherit', shell }), 'exit')
  if (status !== 0) throw new OperatorError(`"${[program, ...args].join(' ')}" failed: nothing was released.`)
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        check: { type: 'string', default: 'npm run check' },
        to: { type: 'string', default: 'release' },
      },
    })
    const [version = '', ...others] = positionals
    if (others.length === 0 && /^\d+\.\d+\.\d+$/.test(version)) return { version, ...values }
  } catch {
    // For an unknown option the message below is right too.
  }
  throw new OperatorError('Name the version to release: npm run release -- 1.1.0')
}

/** Whether one version is later than another. */
function isAfter(version: string, other: string) {
  const [one = [], two = []] = [version, other].map((text) => text.split('.').map(Number))
  const differing = one.findIndex((number, index) => number !== two[index])
  return differing !== -1 && (one[differing] ?? 0) > (two[differing] ?? 0)
}

/** @throws {OperatorError} This version cannot be released. The message says why. */
async function requireReleasable(version: string, changes: string) {
  const branch = await git('branch', '--show-current')
  if (branch !== 'main')
    throw new OperatorError(
      `This is ${branch || 'no branch'}, and releases are made on main: git switch main`,
    )
  if ((await git('status', '--porcelain')) !== '')
    throw new OperatorError(
      'There are changes that are not committed: commit them, or put them aside by git stash.',
    )
  if ((await git('tag', '--list', `v${version}`)) !== '')
    throw new OperatorError(`The tag v${version} is there already: choose a later version.`)
  const last = lastRelease(changes)
  if (!isAfter(version, last))
    throw new OperatorError(`${version} is not after ${last}, the last release: choose a later version.`)
  if (!hasUnreleased(changes))
    throw new OperatorError(
      `${changelog} has nothing under "## Unreleased": write there what ${version} changes.`,
    )
}

/** Sets the version in package.json and its lock, and writes the changelog. */
async function write(version: string, changes: string) {
  await run('npm', ['version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts'])
  await writeFile(changelog, changes)
}

/** The development version that follows a release. The next release may choose another number. */
function nextAfter(version: string) {
  const [major, minor, patch] = version.split('.')
  return `${major}.${minor}.${Number(patch) + 1}-dev`
}

async function main() {
  const { version, check, to } = readArguments()
  const changes = await readFile(changelog, 'utf8')
  await requireReleasable(version, changes)

  // Ctrl-C ends the check, which then counts as failed.
  process.on('SIGINT', () => {})
  const released = release(changes, version, new Date().toISOString().slice(0, 10))
  try {
    await write(version, released)
    await freezeMigrations()
    await runOnTerminal(check, [], true)
    await runOnTerminal('npm', ['run', 'archive', '--', to])
    await git('commit', '--quiet', '--message', `release: ${version}`, '--', ...changedFiles)
  } catch (error) {
    await git('restore', '--staged', '--worktree', '--', ...changedFiles)
    throw error
  }
  await git('tag', '--annotate', `v${version}`, '--message', version)

  const next = nextAfter(version)
  await write(next, beginUnreleased(released))
  await git('commit', '--quiet', '--message', `release: begin ${next}`, '--', ...changedFiles)
  console.log(
    `Released ${version} as the tag v${version}. Nothing is pushed yet: git push origin main v${version}`,
  )
}

await runProgram(main)
