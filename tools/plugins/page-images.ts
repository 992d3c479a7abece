import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'vite'

import { environmentOf, scriptedPages } from '../pages.ts'

/** What `npm run images` makes: by the name that the pages know each by. */
const folder = 'src/design/images'
const images = {
  touchIcon: 'apple-touch-icon.png',
  largeIcon: 'icon-192.png',
  preview: 'preview.png',
}

const module = 'virtual:images'

/**
 * `virtual:images`: where the pages' images lie; in development, their sources. The icon is part of the document,
 * since browsers ask for it before they paint.
 */
export function pageImages(): Plugin {
  const addresses = new Map(Object.entries(images).map(([name, file]) => [name, `/${folder}/${file}`]))
  return {
    name: 'page-images',
    async generateBundle() {
      // The pages share them, so one page's build brings them along.
      if (this.environment.name !== environmentOf(scriptedPages[0] ?? '')) return
      for (const [name, file] of Object.entries(images)) {
        const source = await readFile(join(folder, file))
        addresses.set(name, `./${this.getFileName(this.emitFile({ type: 'asset', name: file, source }))}`)
      }
    },
    resolveId: (id) => (id === module ? `\0${id}` : undefined),
    async load(id) {
      if (id !== `\0${module}`) return undefined
      const icon = dataAddress(await readFile(join(folder, 'icon.svg'), 'utf8'))
      return [...addresses, ['icon', icon]]
        .map(([name, address]) => `export const ${name} = ${JSON.stringify(address)}`)
        .join('\n')
    },
  }
}

/** An SVG as an address, with no more signs escaped than an address and an attribute need. */
function dataAddress(svg: string) {
  const text = svg.replaceAll('"', "'").replaceAll(/[#%<>{}]/g, (sign) => encodeURIComponent(sign))
  return `data:image/svg+xml,${text}`
}
