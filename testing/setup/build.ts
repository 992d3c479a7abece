import { execFileSync } from 'node:child_process'

/** Before tests of whole programs: what they run is built from what they were written for, unless it is already. */
export default function setup(): void {
  execFileSync(process.execPath, ['start.js', 'applications', '--help'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
