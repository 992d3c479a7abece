import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Reads a recipe of `deploy/`, with what is a test's in place of what an organiser edits. */
export async function readRecipe(name: string, replacements: Record<string, string>): Promise<string> {
  let written = await readFile(join('deploy', name), 'utf8')
  for (const [theirs, ours] of Object.entries(replacements)) {
    if (!written.includes(theirs)) throw new Error(`deploy/${name} says nowhere "${theirs}"`)
    written = written.replaceAll(theirs, ours)
  }
  return written
}
