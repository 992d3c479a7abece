import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
const macPaths = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * Finds a Chromium for the browser tests, or installs one.
 *
 * @returns The path of its executable.
 * @throws {Error} Chromium is not available. The message says what to install.
 */
export function ensureChromium(): string {
  const configuredPath = process.env['CHROMIUM_PATH']
  if (configuredPath) {
    if (isExecutable(configuredPath)) return configuredPath
    throw new Error(
      `CHROMIUM_PATH is "${configuredPath}" but should be the path of a Chromium that can be run.`,
    )
  }
  return findChromium() ?? installChromium()
}

function findChromium() {
  return findExecutable(names, [...macPaths, chromium.executablePath()])
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

function installChromium() {
  console.log('No Chromium was found; installing one for the browser tests.')
  const attempts = [
    () => run('npx', ['playwright-core', 'install', 'chromium']),
    () => {
      if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0)
        throw new Error('no apt-get for this user')
      run('apt-get', ['update', '-qq'])
      run('apt-get', ['install', '-y', '-qq', 'chromium'])
    },
  ]
  for (const attempt of attempts) {
    try {
      attempt()
      const found = findChromium()
      if (found) return found
    } catch (error) {
      console.log(error instanceof Error ? error.message : error)
    }
  }
  throw new Error('No Chromium is available: install Chromium or Chrome, or set CHROMIUM_PATH to one.')
}

function run(command: string, args: string[]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env })
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
