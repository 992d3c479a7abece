import { readFile, stat } from 'node:fs/promises'
import { parseEnv } from 'node:util'

import { withFiles } from '../../settings/values-from-files.ts'
import { secretNames, problemWithName } from '../../settings/names.ts'
import { resolveTimeZone } from '../../settings/time-zone.ts'
import type { Environment } from '../../settings/values.ts'
import { ok, oneLine, wrongIf } from '../finding.ts'

/** The settings that are not empty, as pairs of name and value. */
const nonEmpty = (environment: Environment) => Object.entries(environment).filter(([, value]) => value)

/** Finds lines of the settings file that set words or a colour, and whose value ends at a `#` because it has no quotes. */
const cutWords = /^[^\S\n]*(?:export[^\S\n]+)?((?:VITE_)?SITE_[A-Z_]+)[^\S\n]*=[^\S\n]*(?!["'`])[^#\n]*#/gm

function problemWithCut(name: string) {
  return `${name} in .env ends before its sign #, which begins a comment: put the value in quotes.`
}

/**
 * Checks that the names of the settings and the time zone are valid, no words or colours are cut at a `#`, and files with secrets are not public.
 *
 * @param environment The variables that the server would read, including those of the file.
 * @param path The settings file.
 */
export async function checkSettings(environment: Environment, path = '.env') {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  const inFile = text === undefined ? {} : parseEnv(text.replace(/^\uFEFF/, ''))
  const names = nonEmpty(environment).map(([name]) => name)
  const nameProblems = names.map((name) =>
    /\s/.test(name)
      ? `"${oneLine(name)}" is not a valid name: a line of .env is NAME=value.`
      : problemWithName(name, inFile[name] !== undefined),
  )
  const secrets = [
    ...(nonEmpty(inFile).some(([name]) => secretNames.includes(name)) ? [path] : []),
    ...secretNames.flatMap((name) => environment[`${name}_FILE`] || []),
    ...keyFiles(withFiles(environment)['DATABASE_URL']),
  ]
  const cutProblems = Array.from((text ?? '').matchAll(cutWords), ([, name]) => problemWithCut(name ?? ''))
  const fileProblems = await Promise.all(secrets.map(readableProblem))
  const source =
    text === undefined
      ? 'From the environment; there is no file .env here.'
      : 'From the environment and .env.'
  const zoneProblem = resolveTimeZone({ TZ: environment['TZ'] })
  return wrongIf([...nameProblems, zoneProblem, ...cutProblems, ...fileProblems]) ?? ok(source)
}

/** Lists the private key file that a PostgreSQL address names, if any. */
function keyFiles(address = '') {
  const key = URL.canParse(address) ? new URL(address).searchParams.get('sslkey') : null
  return key === null ? [] : [key]
}

/** The folder of a container's secrets, whose mode the container cannot change. */
const containerSecrets = '/run/secrets/'

async function readableProblem(path: string) {
  if (path.startsWith(containerSecrets)) return undefined
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined || (stats.mode & 0o007) === 0) return undefined
  return `Every user of this machine can read ${path}, which holds secrets: chmod o= ${path}.`
}
