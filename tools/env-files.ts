import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

import { OperatorError } from '../src/settings/operator-error.ts'
import type { Environment } from '../src/settings/values.ts'

/**
 * Reads the settings of a build from the files that Vite names, and from the environment, which takes precedence. The files are
 * parsed as `start.js` parses `.env`. Vite itself would replace each `$NAME`, and lose the first line after a byte order mark.
 *
 * @throws {OperatorError} if a file has a colour that is cut at its `#`.
 */
export function readEnvironment(mode: string, folder = '.'): Environment {
  const files = ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`]
  return Object.assign({}, ...files.map((file) => settingsIn(folder, file)), process.env) as Environment
}

function settingsIn(folder: string, file: string) {
  const path = join(folder, file)
  // A folder is a Python environment of that name.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) return {}
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  // The setting would be blank, and the page would have its default colour.
  if (/^[^\S\n]*(?:export[^\S\n]+)?VITE_SITE_ACCENT[^\S\n]*=[^\S\n]*#[\da-f]{6}\b/im.test(text)) {
    throw new OperatorError(
      `VITE_SITE_ACCENT in ${file} ends before its sign #, which begins a comment: put the value in quotes.`,
    )
  }
  return parseEnv(text)
}
