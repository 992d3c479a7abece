// Determines the version of these sources, for a build and for `start.js` before a build.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the version of the sources in a folder. A release has only the number in package.json. Between releases the number
 * ends in `-dev`, and the commit follows if git knows it. Uncommitted changes do not change the version.
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
  // Otherwise git would return the commit of a repository that contains this folder.
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
