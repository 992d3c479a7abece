// The entry of `npm start` and of the operator's commands: builds if the build is missing or stale, then runs it.
// JavaScript, because Node.js 20 runs no TypeScript and this has to run before anything is built.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as util from 'node:util'

const sources = ['package.json', 'package-lock.json', 'src', 'supabase', 'tools', 'vite.config.ts']
// The file that the build writes last, into the folder that the pages' scripts are served from.
const stamp = join('dist', 'assets', 'complete')
/** The version that was built. */
const builtVersion = join('build', 'version')
const lock = join('node_modules', '.unplugged-build')
/** Milliseconds after which another process's lock is stale: no build takes so long. */
const longestBuild = 120_000
const vite = join('node_modules', 'vite', 'bin', 'vite.js')

/** @param {unknown} error @param {string[]} codes */
function isOneOf(error, ...codes) {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** @param {string} path @returns {number} When the newest file at or below the path was changed, in ms. */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  const below = stats?.isDirectory() ? readdirSync(path) : []
  return Math.max(stats?.mtimeMs ?? 0, ...below.map((name) => newest(join(path, name))))
}

async function isStale() {
  // The release archive has a build and no sources.
  if (!existsSync('src')) return false
  return Math.max(...sources.map(newest)) > newest(stamp) || (await isOfAnotherCommit())
}

/** If git does not tell this user the commit, the existing build is used. */
async function isOfAnotherCommit() {
  if (!existsSync(builtVersion)) return true
  const current = await versionOfSources()
  return current.includes('+') && current !== readFileSync(builtVersion, 'utf8')
}

async function versionOfSources() {
  const { versionOf } = await import('./tools/version.js')
  return versionOf('.')
}

/** @param {number} pid @returns {boolean} */
function isAlive(pid) {
  // After a container's restart, pids begin again: if the lock has our own pid, a process that has ended took it.
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return isOneOf(error, 'EPERM')
  }
}

/** Takes the lock of the build. Waits for a process that has it, unless that process is gone or the lock is stale. */
async function takeLock() {
  for (let hasReported = false; ;) {
    try {
      return writeFileSync(lock, String(process.pid), { flag: 'wx' })
    } catch (error) {
      if (!isOneOf(error, 'EEXIST')) throw error
    }
    const holder = existsSync(lock) ? readFileSync(lock, 'utf8') : ''
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if ((holder !== '' && !isAlive(Number(holder))) || age > longestBuild) {
      rmSync(lock, { force: true })
      continue
    }
    if (!hasReported) console.error(`Waiting for process ${holder}, which is building.`)
    hasReported = true
    await wait(200)
  }
}

/** @returns {Promise<boolean>} Whether there is a build now. */
async function build() {
  if (!existsSync(vite)) {
    console.error(
      'The build is missing or stale and Vite, which makes it, is not installed: run "npm ci", without --omit=dev.',
    )
    return false
  }
  try {
    await takeLock()
  } catch (error) {
    if (!isOneOf(error, 'EROFS', 'EACCES', 'EPERM')) throw error
    console.error(
      'The build is missing or stale and this user may not write here: run "npm run build" as the user who installed it.',
    )
    return false
  }
  try {
    // Servers that start together build once.
    if (!(await isStale())) return true
    const stopped = new AbortController()
    const stop = () => stopped.abort()
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    // Ctrl-C comes from the terminal and again from npm.
    for (const signal of signals) process.on(signal, stop)
    console.error('Building the page and the server, which takes a few seconds...')
    const child = spawn(
      process.execPath,
      [vite, 'build', '--mode', 'self-hosted', '--logLevel', 'warn'],
      // In its own process group: Ctrl-C is passed on below, once.
      { stdio: ['ignore', 2, 2], detached: true },
    )
    stopped.signal.addEventListener('abort', () => child.kill('SIGTERM'))
    const [status] = await once(child, 'exit')
    for (const signal of signals) process.off(signal, stop)
    if (stopped.signal.aborted) console.error('The build was stopped. The next start builds again.')
    return status === 0
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * Loads the settings. `process.loadEnvFile` would lose the first line of a file that begins with a byte order mark.
 *
 * @returns False if .env cannot be read, or has a colour that is cut at its `#`.
 */
function loadSettings() {
  if (!existsSync('.env')) return true
  let text
  try {
    text = readFileSync('.env', 'utf8')
  } catch (error) {
    if (!isOneOf(error, 'EACCES', 'EPERM', 'EISDIR')) throw error
    console.error(
      'The settings in .env cannot be read: let this user read that file, or run this as a user who may.',
    )
    return false
  }
  // The setting would be blank, and the page would have its default colour.
  if (/^[^\S\n]*(?:export[^\S\n]+)?SITE_ACCENT[^\S\n]*=[^\S\n]*#[\da-f]{6}\b/im.test(text)) {
    console.error(
      'SITE_ACCENT in .env ends before its sign #, which begins a comment: put the value in quotes.',
    )
    return false
  }
  const settings = util.parseEnv(text.replace(/^\uFEFF/, ''))
  for (const [name, value] of Object.entries(settings)) process.env[name] ??= value
  return true
}

async function main() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(
      `This is Node.js ${process.versions.node}, and 20.19 or later is needed: install Node.js 24.`,
    )
    return false
  }
  process.chdir(dirname(fileURLToPath(import.meta.url)))
  if (process.argv[2] === '--version') {
    console.log((await isStale()) ? await versionOfSources() : readFileSync(builtVersion, 'utf8'))
    return true
  }
  // The demonstration does not read the settings.
  const isDemo = process.argv[2] === 'demo'
  if (isDemo && !existsSync('demo')) {
    console.error('The demonstration is part of the repository, and not of the release archive.')
    return false
  }
  if (isDemo && !existsSync(vite)) {
    console.error('The demonstration needs Vite, which is not installed: run "npm ci", without --omit=dev.')
    return false
  }
  if (!isDemo && !loadSettings()) return false
  if ((await isStale()) && !(await build())) return false
  if (isDemo) process.argv[2] = join('demo', 'main.ts')
  // Options without a command are those of `npm start` itself, the command `start`.
  if (process.argv[2]?.startsWith('--')) process.argv.splice(2, 0, 'start')
  const program = process.argv.length > 2 ? 'cli' : 'server'
  // The database's driver would load a native part, which is not installed.
  delete process.env.NODE_PG_FORCE_NATIVE
  await import(pathToFileURL(isDemo ? join('tools', 'run.js') : join('build', `${program}.js`)).href)
  return true
}

if (!(await main())) process.exitCode = 1
