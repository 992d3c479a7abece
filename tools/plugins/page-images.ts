import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'vite'

import { environmentOf, scriptedPages } from '../pages.ts'

/** The images that `npm run icons` makes, by the names that the pages use. */
const folder = 'src/design/images'
const images = {
  touchIcon: 'apple-touch-icon.png',
  largeIcon: 'icon-192.png',
  preview: 'preview.png',
  wordlessPreview: 'preview-wordless.png',
}

const moduleName = 'virtual:images'

/**
 * Loads `virtual:images`: the addresses of the pages' images, or of their sources in development. The icon is part of the
 * document, because browsers request an icon before they paint.
 */
export function pageImages(): Plugin {
  const addresses = new Map(Object.entries(images).map(([name, file]) => [name, `/${folder}/${file}`]))
  return {
    name: 'page-images',
    async generateBundle() {
      // All pages share the images, so the build of only one page emits them.
      if (this.environment.name !== environmentOf(scriptedPages[0] ?? '')) return
      for (const [name, file] of Object.entries(images)) {
        const source = await readFile(join(folder, file))
        addresses.set(name, `./${this.getFileName(this.emitFile({ type: 'asset', name: file, source }))}`)
      }
    },
    resolveId: (id) => (id === moduleName ? `\0${id}` : undefined),
    async load(id) {
      if (id !== `\0${moduleName}`) return undefined
      const icon = dataAddress(await readFile(join(folder, 'icon.svg'), 'utf8'))
      return [...addresses, ['icon', icon]]
        .map(([name, address]) => `export const ${name} = ${JSON.stringify(address)}`)
        .join('\n')
    },
  }
}

/** Converts an SVG into a data URL. Escapes only the characters that a URL and an attribute require. */
function dataAddress(svg: string) {
  const text = svg.replaceAll('"', "'").replaceAll(/[#%<>{}]/g, (sign) => encodeURIComponent(sign))
  return `data:image/svg+xml,${text}`
}
