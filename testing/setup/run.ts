import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

import { temporaryPlace } from '../temporary-place.ts'

/**
 * Before all tests: a folder for everything that they make, which is in the environment of whatever they start. The
 * reaper ends both when the run is over, also where that was killed.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Each project that takes part in a run is set up, and they share one folder.
  if (process.env['TEST_RUN'] !== undefined) return undefined
  const folder = await mkdtemp(join(temporaryPlace(), 'unplugged-'))
  // PostgreSQL runs as another user where root runs the tests.
  await chmod(folder, 0o755)
  // A group of its own: a Ctrl-C would end it too.
  const reaper = spawn(process.execPath, ['testing/reaper.js', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  process.env['TEST_RUN'] = folder
  return async () => {
    const ended = once(reaper, 'exit')
    reaper.stdin.end()
    await ended
    delete process.env['TEST_RUN']
  }
}
