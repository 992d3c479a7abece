// The version of these sources, for a build and for `start.js` before it.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The version of the sources in a folder. A release has the number in package.json alone. Between releases the number ends in
 * `-dev`, and the commit follows if git knows it. Uncommitted changes do not show.
 *
 * @param {string} folder
 * @returns {string} Such as `1.1.0`, `1.1.0-dev+e79b689` or `1.1.0-dev`, by semver.org.
 */
export function versionOf(folder) {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const commit = version.endsWith('-dev') ? commitOf(folder) : ''
  return commit === '' ? version : `${version}+${commit}`
}

/** @param {string} folder */
function commitOf(folder) {
  // Otherwise git would name the commit of a repository around this one.
  if (!existsSync(join(folder, '.git'))) return ''
  try {
    const output = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return output.toString().trim()
  } catch {
    // There is no git or no commit, or git does not trust the folder's owner.
    return ''
  }
}
