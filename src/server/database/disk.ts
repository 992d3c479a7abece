import { open } from 'node:fs/promises'

/** Makes sure that the names in a directory are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
