// What a build, and `start.js` before it, say which version these sources are.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The version of the sources in a folder: a release's is the number in package.json alone; between releases, where that
 * number ends in `-dev`, the commit follows, as far as git knows it. Changes that are not committed are not told.
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
  // Without it git would name the commit of a repository around this one.
  if (!existsSync(join(folder, '.git'))) return ''
  try {
    const said = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return said.toString().trim()
  } catch {
    // There is no git, no commit yet, or git does not trust this user with somebody else's folder.
    return ''
  }
}
