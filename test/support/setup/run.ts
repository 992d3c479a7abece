import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

import { temporaryFolder } from '../temporary-folder.ts'

/**
 * Runs before all tests. Makes a folder for all their files, and names it in the environment of all their programs. After the run
 * the reaper (test/support/reaper.js) ends the programs and removes the files that are left, even if the run was killed.
 */
export default async function setup(): Promise<void> {
  // Each Vitest project of a run calls this, and all share one folder.
  if (process.env['TEST_RUN'] !== undefined) return
  const folder = await mkdtemp(join(temporaryFolder(), 'unplugged-'))
  // PostgreSQL runs as another user if root runs the tests.
  await chmod(folder, 0o755)
  // The reaper's standard input ends with this process. In this process group, Ctrl-C would end the reaper too.
  spawn(process.execPath, ['test/support/reaper.js', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  }).unref()
  process.env['TEST_RUN'] = folder
  // Not a teardown of Vitest, which would run before the workers end. The reaper then normally finds nothing.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
