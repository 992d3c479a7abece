import { resolve } from 'node:path'

/**
 * Imports a file of the version in a folder. A database is filled by the version that made it, because the schemas may differ.
 *
 * @param checkout The folder of the version.
 */
export async function importFrom<Exports>(checkout: string, file: string): Promise<Exports> {
  return (await import(/* @vite-ignore */ resolve(checkout, file))) as Exports
}
