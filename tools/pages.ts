import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = 'src/pages'

/** The pages: the folders that hold a script's entry. */
export const pages: readonly string[] = readdirSync(folder).filter((name) => existsSync(entryOf(name)))

/** Where a page's script begins. */
export function entryOf(page: string): string {
  return join(folder, page, 'main.tsx')
}

/** The name of the build that makes a page's script, apart from every other page's, so that none adds to another. */
export function environmentOf(page: string): string {
  return `page_${page}`
}
