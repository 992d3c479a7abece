import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = 'src/pages'

/** The pages: the folders that render a document. */
export const pages: readonly string[] = readdirSync(folder).filter((name) => existsSync(rendererOf(name)))

/** Those with a script besides the one in their document. */
export const scriptedPages: readonly string[] = pages.filter((name) => existsSync(entryOf(name)))

/** What renders a page's document. */
export function rendererOf(page: string): string {
  return join(folder, page, 'render.tsx')
}

/** Where a page's script begins. */
export function entryOf(page: string): string {
  return join(folder, page, 'main.tsx')
}

/** The name of the build that makes a page's script, apart from every other page's, so that none adds to another. */
export function environmentOf(page: string): string {
  return `page_${page}`
}
