import { resolve } from 'node:path'

/**
 * A file of the version that lies in a folder: what stores rows in a database must be of the version that made it.
 *
 * @param checkout The folder.
 */
export async function partOf<Exports>(checkout: string, file: string): Promise<Exports> {
  return (await import(/* @vite-ignore */ resolve(checkout, file))) as Exports
}
