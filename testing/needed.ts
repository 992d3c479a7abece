import { findExecutable } from './browser.ts'

/**
 * Skips a test that cannot run on this machine. With `CI=true` it fails instead: nobody reads there what was skipped.
 *
 * @param skip What the test was given.
 * @param missing What this machine lacks, and what brings it, in a sentence.
 */
export function cannotRun(skip: (why: string) => never, missing: string): never {
  if (process.env['CI'] === 'true') throw new Error(missing)
  return skip(missing)
}

/** What is said where a test needs a full disk. */
export const noMount = 'This user may mount nothing: run it as root, where root may mount.'

/**
 * Finds a program of Debian's.
 *
 * @throws {Error} that says what to install.
 */
export function programOf(name: string, debianPackage = name): string {
  const program = findExecutable([name], [`/usr/sbin/${name}`, `/usr/bin/${name}`])
  if (program === undefined) throw new Error(`There is no ${name}: apt-get install ${debianPackage}.`)
  return program
}
