import { resolve } from 'node:path'

/**
 * Imports a file from another version's checkout. Each version fills its database with its own code: the schemas may differ.
 *
 * @param checkout The folder with the files of that version.
 */
export async function importFrom<Exports>(checkout: string, file: string): Promise<Exports> {
  return (await import(/* @vite-ignore */ resolve(checkout, file))) as Exports
}
