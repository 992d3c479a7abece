import { spawn } from 'node:child_process'

/**
 * Runs before tests of whole programs. Begins to build the sources if they changed, without waiting: other tests run meanwhile.
 * `built.ts` waits.
 */
export default function setup(): void {
  if (process.env['BUILD_BEGUN'] !== undefined) return
  process.env['BUILD_BEGUN'] = 'yes'
  spawn(process.execPath, ['start.js', 'applications', '--help'], { stdio: ['ignore', 'ignore', 'inherit'] })
}
