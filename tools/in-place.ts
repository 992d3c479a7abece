import { cp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Milliseconds for which files of earlier builds are kept, for pages that were opened before. */
const kept = 30 * 24 * 3_600_000

const folders = ['build', 'dist']

/** The folder of a new build. A server may still run from the current one. */
export function next(folder: string): string {
  return `${folder}.next`
}

/**
 * Replaces the current build by the new one. Keeps the scripts and images of earlier builds, since open pages still load them.
 */
export async function putInPlace(): Promise<void> {
  await keepAssets(join('dist', 'assets'), join(next('dist'), 'assets'))
  // Written last: an interrupted build lacks this file and does not count.
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
