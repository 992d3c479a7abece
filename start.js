// The entry of `npm start` and of the organiser's commands: builds what is missing or stale, then runs it.
// JavaScript, because Node.js 20 runs no TypeScript and this has to run before anything is built.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const sources = ['package-lock.json', 'src', 'supabase', 'tools', 'vite.config.ts']
// Written last, and in the folder that the page's script is served from.
const stamp = join('dist', 'assets', 'complete')
const lock = join('node_modules', '.unplugged-build')

/** @param {string} path @returns {number} When the newest file at or below the path was changed, in ms. */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  const below = stats?.isDirectory() ? readdirSync(path) : []
  return Math.max(stats?.mtimeMs ?? 0, ...below.map((name) => newest(join(path, name))))
}

function isStale() {
  return Math.max(...sources.map(newest)) > newest(stamp)
}

/** @param {number} pid @returns {boolean} */
function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Takes the lock of the build; waits for whoever holds it, unless that process died. */
function takeLock() {
  for (;;) {
    try {
      return writeFileSync(lock, String(process.pid), { flag: 'wx' })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const holder = existsSync(lock) ? readFileSync(lock, 'utf8') : ''
    if (holder !== '' && !isAlive(Number(holder))) rmSync(lock, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
}

/** @returns {boolean} Whether there is a build now. */
function build() {
  const vite = join('node_modules', 'vite', 'bin', 'vite.js')
  if (!existsSync(vite)) {
    console.error('The build is missing or stale and Vite, which makes it, is not installed: run "npm ci".')
    return false
  }
  try {
    takeLock()
  } catch (error) {
    if (
      !(
        error instanceof Error &&
        'code' in error &&
        ['EROFS', 'EACCES', 'EPERM'].includes(String(error.code))
      )
    )
      throw error
    console.error(
      'The build is missing or stale and this user may not write here: run "npm run build" as whoever installed it.',
    )
    return false
  }
  try {
    // Servers that start together build once.
    if (!isStale()) return true
    const { status } = spawnSync(
      process.execPath,
      [vite, 'build', '--mode', 'self-hosted', '--logLevel', 'warn'],
      {
        stdio: ['ignore', 2, 2],
      },
    )
    return status === 0
  } finally {
    rmSync(lock, { force: true })
  }
}

// React renders on the server by it too.
process.env['NODE_ENV'] ??= 'production'
process.chdir(import.meta.dirname)
if (existsSync('.env')) process.loadEnvFile()
const program = process.argv.length > 2 ? 'cli' : 'server'
if (isStale() && !build()) process.exitCode = 1
else await import(pathToFileURL(join('build', `${program}.js`)).href)
