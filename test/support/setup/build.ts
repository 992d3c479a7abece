import { execFileSync } from 'node:child_process'
import { copyFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of a build whose pages have React's development version (docs/decisions/0056). */
const strict = 'build.strict'

/** Runs before tests of whole programs. Builds the sources, if they changed. */
export default function setup(): void {
  // start.js builds the sources before it runs any command.
  run('start.js', 'applications', '--help')
  const stamp = join(strict, 'complete')
  if (changedAt(stamp) < changedAt(join('dist', 'assets', 'complete'))) {
    run('node_modules/vite/bin/vite.js', 'build', '--mode', 'strict', '--logLevel', 'error')
    for (const file of ['start.js', 'package.json']) copyFileSync(file, join(strict, file))
    writeFileSync(stamp, '')
  }
  process.env['STRICT_CHECKOUT'] = strict
}

function run(...args: string[]) {
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
}

function changedAt(file: string) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
