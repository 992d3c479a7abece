import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

import { temporaryFolder } from '../temporary-folder.ts'

/**
 * Before all tests: makes a folder for all their files, and names it in the environment of all their programs. After the run the
 * reaper ends and removes the rest, even if the run was killed.
 */
export default async function setup(): Promise<void> {
  // Each project of a run calls this, and they share one folder.
  if (process.env['TEST_RUN'] !== undefined) return
  const folder = await mkdtemp(join(temporaryFolder(), 'unplugged-'))
  // PostgreSQL runs as another user if root runs the tests.
  await chmod(folder, 0o755)
  // Its standard input ends with this process. It has its own process group, because Ctrl-C would end it too.
  spawn(process.execPath, ['testing/reaper.js', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  }).unref()
  process.env['TEST_RUN'] = folder
  // A teardown would run before the workers end. Normally nothing remains for the reaper.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
