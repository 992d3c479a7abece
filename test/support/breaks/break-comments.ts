import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Finds the comments `// break: <id>` above tests. Returns the files of each id. */
export async function filesWithMarks(): Promise<Map<string, string[]>> {
  const files = new Map<string, string[]>()
  for (const folder of ['src', 'test', 'tools']) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!/\.test\.tsx?$/.test(name)) continue
      const source = await readFile(join(folder, name), 'utf8')
      for (const [, id = ''] of source.matchAll(/^ *\/\/ break: (.+)$/gm)) {
        files.set(id, [...(files.get(id) ?? []), join(folder, name)])
      }
    }
  }
  return files
}

/**
 * Lets only the marked test of a file run, by Vitest's `only`.
 *
 * @throws if the comment with the id is not directly above a test.
 */
export function withOnlyMarked(source: string, id: string): string {
  const marked = new RegExp(`^( *// break: ${id}\\n(?: *// break: .+\\n)* *test)\\b`, 'm')
  if (!marked.test(source)) throw new Error(`no test is directly below “// break: ${id}”`)
  return source.replace(marked, '$1.only')
}
