/** Takes the page's picture in every state, window and scheme: `npm run screenshots`, or some: `-- success print`. */
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'

import { ensureChromium, launchChromium } from '../testing/browser.ts'
import { states } from '../testing/states.ts'
import { startServer, dataDirectory } from '../testing/server.ts'

const folder = 'screenshots'
const windows: Record<string, [width: number, height: number]> = {
  320: [320, 640],
  390: [390, 844],
  768: [768, 1024],
  '844x390': [844, 390],
  '1366x650': [1366, 650],
  1440: [1440, 900],
  1920: [1920, 1080],
}
const schemes: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  forced: { colorScheme: 'dark', forcedColors: 'active' },
}
/** Those that the README shows. */
const shown = {
  'idle-1440-light': 'desktop',
  'filled-390-light-whole': 'phone',
  'success-1366x650-dark': 'sent',
}

const words = process.argv.slice(2)
const isWanted = (name: string) => words.every((word) => name.split('-').includes(word))

if (words.length === 0) await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const directory = await dataDirectory()
const server = await startServer({ DATA_DIR: directory.path })
const browser = await launchChromium(ensureChromium())

async function take(
  name: string,
  options: BrowserContextOptions,
  pictures: (page: Page) => Promise<unknown>,
) {
  const page = await browser.newPage({ reducedMotion: 'reduce', ...options })
  await page.goto(server.origin, { waitUntil: 'networkidle' })
  await states[name]?.(page)
  await pictures(page)
  await page.close()
}

try {
  for (const state of Object.keys(states)) {
    for (const [size, [width, height]] of Object.entries(windows)) {
      for (const [scheme, options] of Object.entries(schemes)) {
        const name = `${state}-${size}-${scheme}`
        if (!isWanted(name)) continue
        await take(state, { viewport: { width, height }, ...options }, async (page) => {
          await page.screenshot({ path: join(folder, `${name}.png`) })
          await page.screenshot({ path: join(folder, `${name}-whole.png`), fullPage: true })
        })
      }
    }
    if (!isWanted(`${state}-print`)) continue
    await take(state, {}, (page) => page.pdf({ path: join(folder, `${state}-print.pdf`), format: 'A4' }))
  }
  for (const [name, image] of Object.entries(shown)) {
    if (isWanted(name)) await copyFile(join(folder, `${name}.png`), join('docs', 'images', `${image}.png`))
  }
} finally {
  await browser.close()
  await server.stop()
  await directory.remove()
}
console.log(`The pictures are in ${folder}/, those of the README in docs/images/.`)
