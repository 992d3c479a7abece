import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = 'src/pages'

/** The names of the pages. Each is a folder that renders a document. */
export const pages: readonly string[] = readdirSync(folder).filter((name) => existsSync(rendererOf(name)))

/** The pages that load a script in addition to the inline one. */
export const scriptedPages: readonly string[] = pages.filter((name) => existsSync(entryOf(name)))

/** The module that renders a page's document. */
export function rendererOf(page: string): string {
  return join(folder, page, 'render.tsx')
}

/** The entry module of a page's script. */
export function entryOf(page: string): string {
  return join(folder, page, 'main.tsx')
}

/** The build environment of a page's script. Each page has a separate one, so that no page adds code to another. */
export function environmentOf(page: string): string {
  return `page_${page}`
}
