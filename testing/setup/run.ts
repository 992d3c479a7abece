import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

import { temporaryPlace } from '../temporary-place.ts'

/**
 * Before all tests: a folder for everything that they make, which is in the environment of whatever they start. When the
 * run is over the reaper ends and removes what is left, also where the run was killed.
 */
export default async function setup(): Promise<void> {
  // Each project that takes part in a run is set up, and they share one folder.
  if (process.env['TEST_RUN'] !== undefined) return
  const folder = await mkdtemp(join(temporaryPlace(), 'unplugged-'))
  // PostgreSQL runs as another user where root runs the tests.
  await chmod(folder, 0o755)
  // Its standard input ends with this process. A group of its own: a Ctrl-C would end it too.
  spawn(process.execPath, ['testing/reaper.js', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  }).unref()
  process.env['TEST_RUN'] = folder
  // Not in a teardown, which comes before the workers end. The reaper has nothing to do then.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
