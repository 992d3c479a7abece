// The entry of `npm start` and of the organiser's commands: builds what is missing or stale, then runs it.
// JavaScript, because Node.js 20 runs no TypeScript and this has to run before anything is built.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const sources = ['index.html', 'package-lock.json', 'public', 'src', 'static-site.ts', 'vite.config.ts']
const stamp = join('build', 'complete')

/** @param {string} path @returns {number} When the newest file at or below the path was changed, in ms. */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
}

process.chdir(import.meta.dirname)
if (existsSync('.env')) process.loadEnvFile()

const built = newest(stamp)
if (Math.max(...sources.map(newest)) > built) {
  const vite = join('node_modules', 'vite', 'bin', 'vite.js')
  if (!existsSync(vite)) {
    console.error('The build is missing or stale and Vite, which makes it, is not installed: run "npm ci".')
    process.exit(1)
  }
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) process.exit(1)
}

const [program = 'server'] = process.argv.splice(2, 1)
await import(pathToFileURL(join('build', `${program}.js`)).href)
