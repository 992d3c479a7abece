import { findExecutable } from './browser.ts'

/**
 * Skips a test that cannot run on this machine. With `CI=true` the test fails instead, because nobody reads in CI which
 * tests were skipped.
 *
 * @param skip The test's own `skip`.
 * @param missing A sentence that says what this machine lacks, and how to get it.
 */
export function cannotRun(skip: (why: string) => never, missing: string): never {
  if (process.env['CI'] === 'true') throw new Error(missing)
  return skip(missing)
}

/** The message of a test that needs a small or an unresponsive disk. */
export const noMount = 'This user may not mount: run the test as root, on a machine where root may mount.'

/**
 * Finds a program from Debian's packages.
 *
 * @throws {Error} The program is missing. The message says what to install.
 */
export function findProgram(name: string, debianPackage = name): string {
  const program = findExecutable([name], [`/usr/sbin/${name}`, `/usr/bin/${name}`])
  if (program === undefined) throw new Error(`There is no ${name}: apt-get install ${debianPackage}.`)
  return program
}
