import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { copyCheckout } from './static-site.ts'

const run = promisify(execFile)

/**
 * Makes the release archive from a copy of this checkout.
 *
 * @param directory An empty directory, for the copy too.
 * @returns Where the archive is.
 */
export async function packRelease(directory: string): Promise<string> {
  const checkout = await copyCheckout(join(directory, 'checkout'))
  await run('npm', ['run', 'archive', '--', directory], { cwd: checkout })
  const name = (await readdir(directory)).find((file) => file.endsWith('.tgz'))
  if (name === undefined) throw new Error(`no archive was left in ${directory}`)
  return join(directory, name)
}

/** Unpacks the release archive into a directory, which is made, over what is there. */
export async function unpackRelease(archive: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  await run('tar', ['xzf', archive, '--strip-components=1', '-C', directory])
}

/** Megabytes that a file or a folder takes on a disk. */
export async function sizeOf(path: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', path])
  return Number.parseInt(stdout, 10) / 1000
}
