import { cp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Milliseconds for which a new build keeps the files of earlier builds, because open pages load them. */
const maxAge = 30 * 24 * 3_600_000

const folders = ['build', 'dist']

/** The folder of a new build. A server may still run from the current build. */
export function nextFolder(folder: string): string {
  return `${folder}.next`
}

/**
 * Replaces the current build by the new one. Copies the scripts and images of earlier builds into the new one, unless they
 * are older than `maxAge`.
 */
export async function putInPlace(): Promise<void> {
  await copyAssets(join('dist', 'assets'), join(nextFolder('dist'), 'assets'))
  // This file is written last, so that an interrupted build lacks it and is not used.
  await writeFile(join(nextFolder('dist'), 'assets', 'complete'), '')
  for (const folder of folders) {
    const former = `${folder}.before`
    await rm(former, { recursive: true, force: true })
    await rename(folder, former).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    })
    await rename(nextFolder(folder), folder)
    await rm(former, { recursive: true, force: true })
  }
}

async function copyAssets(from: string, to: string) {
  const names = await readdir(from).catch(() => [])
  for (const name of names) {
    const { mtimeMs } = await stat(join(from, name))
    if (Date.now() - mtimeMs > maxAge) continue
    await cp(join(from, name), join(to, name), { force: false, preserveTimestamps: true })
  }
}
