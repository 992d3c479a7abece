import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { promisify } from 'node:util'

import { atTestEnd } from './cleanup.ts'
import { cannotRun, noMount } from './requirements.ts'

const run = promisify(execFile)

/**
 * Makes a folder on a separate small disk, until the test ends.
 *
 * @param size In the notation of `tmpfs`, such as `64k`.
 * @param skip The test's own `skip`, for users who may not mount.
 */
export async function mountSmallDisk(
  folder: string,
  size: string,
  skip: (why: string) => never,
): Promise<void> {
  await mkdir(folder)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder])
  } catch {
    cannotRun(skip, noMount)
  }
  atTestEnd(() => run('umount', ['-l', folder]))
}
