/** Takes the page's picture in every state, width and scheme: `npm run screenshots`. */
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { ensureChromium, launchChromium } from '../testing/browser.ts'
import { states } from '../testing/states.ts'
import { startServer, dataDirectory } from '../testing/server.ts'

const folder = 'screenshots'
/** Those that the README shows. */
const shown = { 'idle-1440-light': 'desktop', 'filled-360-light': 'phone', 'success-768-dark': 'sent' }

await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const directory = await dataDirectory()
const server = await startServer({ DATA_DIR: directory.path })
const browser = await launchChromium(ensureChromium())
try {
  for (const [state, reach] of Object.entries(states)) {
    for (const width of [360, 768, 1440]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({
          colorScheme,
          reducedMotion: 'reduce',
          viewport: { width, height: width < 500 ? 780 : 900 },
        })
        await page.goto(server.origin, { waitUntil: 'networkidle' })
        await reach(page)
        const name = `${state}-${width}-${colorScheme}`
        await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
        await page.close()
      }
    }
  }
  for (const [name, image] of Object.entries(shown)) {
    await copyFile(join(folder, `${name}.png`), join('docs', 'images', `${image}.png`))
  }
} finally {
  await browser.close()
  await server.stop()
  await directory.remove()
}
console.log(`The pictures are in ${folder}/, those of the README in docs/images/.`)
