import type { Plugin } from 'vite'

import { entryOf, environmentOf, scriptedPages } from '../pages.ts'

const prefix = 'virtual:page-script/'

/** Loads `virtual:page-script/<page>`: the address of the page's built script, or of its source in development. */
export function pageScripts(): Plugin {
  const scripts = new Map(scriptedPages.map((page) => [page, `/${entryOf(page)}`]))
  return {
    name: 'page-scripts',
    generateBundle(_options, bundle) {
      const page = scriptedPages.find((name) => environmentOf(name) === this.environment.name)
      const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry)
      if (page !== undefined && entry) scripts.set(page, `./${entry.fileName}`)
    },
    resolveId: (id) => (id.startsWith(prefix) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${prefix}`)) return undefined
      return `export const script = ${JSON.stringify(scripts.get(id.slice(prefix.length + 1)))}`
    },
  }
}
