import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { copyCheckout } from './static-site.ts'

const run = promisify(execFile)

/**
 * Makes the release archive from a copy of this checkout.
 *
 * @param directory An empty directory for the archive and the copy.
 * @returns The path of the archive.
 */
export async function packRelease(directory: string): Promise<string> {
  const checkout = await copyCheckout(join(directory, 'checkout'))
  await run('npm', ['run', 'archive', '--', directory], { cwd: checkout })
  const name = (await readdir(directory)).find((file) => file.endsWith('.tgz'))
  if (name === undefined) throw new Error(`no archive was left in ${directory}`)
  return join(directory, name)
}

/** Unpacks the release archive into a directory. Creates the directory if needed, and overwrites its files. */
export async function unpackRelease(archive: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  await run('tar', ['xzf', archive, '--strip-components=1', '-C', directory])
}

/** The size of a file or a folder on disk, in megabytes. */
export async function sizeOf(path: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', path])
  return Number.parseInt(stdout, 10) / 1000
}
