// Makes deliberate breaks of the product, one after another, in copies of the checkout. Reports which test fails with each:
// npm run test:breaks -- door wrong-tokens-uncounted
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { breaks } from '../test/support/breaks.ts'
import type { Break } from '../test/support/breaks/break.ts'
import { filesWithMarks, withOnlyMarked } from '../test/support/breaks/break-comments.ts'
import { placesOf, readProduct } from '../test/support/breaks/source-places.ts'

/** The number of copies in which breaks are made in parallel. */
const copies = 2
/** The name of a migration that sorts after every other one. */
const lastMigration = '99991231235959_broken.sql'

/** The timeout of a test, in milliseconds. */
const testTimeout = 60_000
/** Vitest's options. It stops at the first failure. */
const options = [
  '--bail=1',
  '--allowOnly',
  `--testTimeout=${testTimeout}`,
  `--hookTimeout=${testTimeout}`,
  '--expect.poll.timeout=8000',
]

/** The fields of a `--reporter=json` report that this file reads. */
interface Report {
  numTotalTests: number
  testResults: {
    status: string
    message: string
    assertionResults: { status: string; fullName: string; duration?: number }[]
  }[]
}

/** Copies the files that git tracks or would add. */
async function copyCheckout(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'broken-'))
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  for (const file of files.toString().split('\0').filter(Boolean)) {
    // git also lists files that were deleted without a commit.
    await cp(file, join(directory, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  await symlink(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'))
  return directory
}

/** Makes a break in a copy. Returns a function that undoes it. Throws unless there is exactly one place for it. */
async function apply(breakToMake: Break, directory: string): Promise<() => Promise<void>> {
  if ('statements' in breakToMake) {
    const migration = join(directory, 'supabase/migrations', lastMigration)
    await writeFile(migration, breakToMake.statements)
    return () => rm(migration)
  }
  const [place, ...others] = placesOf(breakToMake, product)
  if (place === undefined || others.length > 0) {
    throw new Error(`${breakToMake.declaration} does not have ${breakToMake.find} exactly once`)
  }
  const { file, before, at, after } = place
  const broken = before + breakToMake.replace + after
  const restore = () => writeFile(join(directory, file), before + at + after)
  await writeFile(join(directory, file), broken)
  const [above = '', isInSchema] = file.split('/schemas/')
  if (isInSchema === undefined) return restore
  // Databases are made from the migrations, so a broken function needs a migration.
  const migration = join(directory, above, 'migrations', lastMigration)
  await writeFile(migration, functionAt(broken, before.length))
  return async () => {
    await restore()
    await rm(migration)
  }
}

/** Returns a statement that replaces the function whose declaration contains this position. */
function functionAt(sql: string, position: number): string {
  const begin = sql.lastIndexOf('\ncreate function', position) + 1
  const end = sql.indexOf('\n$$;', position) + '\n$$;'.length
  return sql.slice(begin, end).replace('create function', 'create or replace function')
}

/** Makes a break, runs the tests that have its id, and undoes the break. Returns the name of a failing test, if any. */
async function failingTestOf(breakToMake: Break, directory: string): Promise<string | undefined> {
  const { id } = breakToMake
  const files = marks.get(id) ?? []
  if (files.length === 0) throw new Error(`no test has the comment “// break: ${id}”`)
  const undo = await apply(breakToMake, directory)
  try {
    for (const file of files) {
      await writeFile(join(directory, file), withOnlyMarked(await readFile(file, 'utf8'), id))
    }
    return await runTests(directory, files)
  } finally {
    await undo()
    for (const file of files) await cp(file, join(directory, file))
  }
}

/**
 * Runs the tests that have to fail. Returns the full name of a test that failed, or undefined if all passed. Throws if no test
 * ran, or if one timed out.
 */
async function runTests(directory: string, files: string[]): Promise<string | undefined> {
  const output = join(directory, 'report.json')
  await rm(output, { force: true })
  const child = spawn(
    'npx',
    ['vitest', 'run', ...files, ...options, '--reporter', 'json', '--outputFile', output],
    { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (printed += String(part)))
  await once(child, 'close')
  const report = await readFile(output, 'utf8').then(
    (text) => JSON.parse(text) as Report,
    () => undefined,
  )
  const results = report?.testResults ?? []
  const tests = results.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.find(({ status }) => status === 'failed')
  // A timeout proves nothing, because on a busy machine any test may time out.
  if (failed && (failed.duration ?? 0) >= testTimeout) throw new Error(`this hangs: ${failed.fullName}`)
  if (failed) return failed.fullName
  if (!tests.some(({ status }) => status === 'passed') || child.exitCode !== 0) {
    const why = results.map(({ message }) => message).join('\n') || printed
    throw new Error(`nothing was tested: ${why.slice(-2_000)}`)
  }
  return undefined
}

const words = process.argv.slice(2).map((word) => word.toLowerCase())
const marks = await filesWithMarks()
const product = await readProduct()
const chosenBreaks = breaks.filter(
  ({ id, effect }) =>
    words.length === 0 ||
    words.some((word) => [id, effect, ...(marks.get(id) ?? [])].join(' ').toLowerCase().includes(word)),
)
const queue = [...chosenBreaks]
const count = chosenBreaks.length
const survivors: string[] = []

/** Makes breaks of the queue in a copy of the checkout, until the queue is empty. */
async function makeBreaks() {
  const directory = await copyCheckout()
  try {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const began = performance.now()
      const report = (what: string) => {
        const seconds = Math.round((performance.now() - began) / 1_000)
        console.log(`${next?.id}: ${next?.effect}, ${seconds} s\n  ${what}`)
      }
      try {
        const test = await failingTestOf(next, directory)
        report(
          test === undefined ? `NOT DETECTED by ${marks.get(next.id)?.join(', ')}` : `detected by: ${test}`,
        )
        if (test === undefined) survivors.push(next.id)
      } catch (error) {
        report(`NOT TRIED: ${error instanceof Error ? error.message : String(error)}`)
        survivors.push(next.id)
      }
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

await Promise.all(Array.from({ length: Math.min(copies, count) }, makeBreaks))
console.log(`${count - survivors.length} of ${count} breaks were detected.`)
if (survivors.length > 0 || count === 0) process.exitCode = 1
