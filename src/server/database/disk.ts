import { open } from 'node:fs/promises'

/** Brings the names of a directory to the disk. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
