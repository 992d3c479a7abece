import { resolve } from 'node:path'

/**
 * Imports a file of the version in a folder. Only the version that made a database may store rows in it.
 *
 * @param checkout The folder of the version.
 */
export async function importFrom<Exports>(checkout: string, file: string): Promise<Exports> {
  return (await import(/* @vite-ignore */ resolve(checkout, file))) as Exports
}
