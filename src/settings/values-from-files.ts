import { readFileSync } from 'node:fs'

import { settingsFromFiles } from './names.ts'
import { OperatorError } from './operator-error.ts'
import type { Environment } from './values.ts'

/** What is wrong with a file, and what to do about it, by the code of the error. */
const problems: Readonly<Record<string, string>> = {
  ENOENT: 'which does not exist: write the value into that file',
  EACCES: 'which this user may not read: let this user read that file, or run this as a user who may',
}

/**
 * Replaces each setting `NAME_FILE` by `NAME`, whose value is the content of that file without the line end after it.
 *
 * @param read Reads a file as text.
 * @throws {OperatorError} if a file cannot be read or is empty, or if a setting is given in both ways. The message has no content.
 */
export function withFiles(
  environment: Environment,
  read = (path: string) => readFileSync(path, 'utf8'),
): Environment {
  const replaced = settingsFromFiles.flatMap((name) => {
    const fileName = `${name}_FILE`
    const path = environment[fileName]
    if (!path) return []
    if (environment[name])
      throw new OperatorError(`${name} and ${fileName} are both set: remove one of them.`)
    return [
      [fileName, undefined],
      [name, contentOf(fileName, path, read)],
    ]
  })
  return { ...environment, ...Object.fromEntries(replaced) }
}

function contentOf(name: string, path: string, read: (path: string) => string) {
  let problem = 'which is empty: write the value into that file'
  try {
    const content = read(path).replace(/\r?\n$/, '')
    if (content !== '') return content
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code)
    problem = problems[code] ?? `which cannot be read (${code}): name a file that has the value`
  }
  throw new OperatorError(`${name} is "${path}", ${problem}.`)
}
