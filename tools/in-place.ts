import { cp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Milliseconds for which the files of earlier builds are kept: somebody may have opened the page before. */
const kept = 30 * 24 * 3_600_000

const folders = ['build', 'dist']

/** Where a folder is built, aside: a server may be running from the one that is there. */
export function next(folder: string): string {
  return `${folder}.next`
}

/**
 * Puts what was built in the place of what was there. The scripts and images of earlier builds stay, since a page
 * that was opened before asks for them still.
 */
export async function putInPlace(): Promise<void> {
  await keepAssets(join('dist', 'assets'), join(next('dist'), 'assets'))
  // Last, so that a build which was cut off counts as none.
  await writeFile(join(next('dist'), 'assets', 'complete'), '')
  for (const folder of folders) {
    const before = `${folder}.before`
    await rm(before, { recursive: true, force: true })
    await rename(folder, before).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    })
    await rename(next(folder), folder)
    await rm(before, { recursive: true, force: true })
  }
}

async function keepAssets(from: string, to: string) {
  const names = await readdir(from).catch(() => [])
  for (const name of names) {
    const { mtimeMs } = await stat(join(from, name))
    if (Date.now() - mtimeMs > kept) continue
    await cp(join(from, name), join(to, name), { force: false, preserveTimestamps: true })
  }
}
