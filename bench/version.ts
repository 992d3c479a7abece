import { resolve } from 'node:path'

/**
 * A file of the version in a folder: only code of the version that made a database may store rows in it.
 *
 * @param checkout The folder.
 */
export async function importFrom<Exports>(checkout: string, file: string): Promise<Exports> {
  return (await import(/* @vite-ignore */ resolve(checkout, file))) as Exports
}
