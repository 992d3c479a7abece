import { execFileSync } from 'node:child_process'

/** Runs before tests of whole programs. Builds the sources, if they changed: start.js does so before it runs any command. */
export default function setup(): void {
  execFileSync(process.execPath, ['start.js', 'applications', '--help'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
