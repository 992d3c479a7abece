/** Takes the pages' pictures in every state, window and scheme: `npm run screenshots`, or some: `-- success print`. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'

import { ensureChromium, launchChromium } from '../testing/browser.ts'
import { startDesk } from '../testing/desk.ts'
import { screens } from '../testing/screens.ts'

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

const words = process.argv.slice(2)
const isWanted = (name: string) => words.every((word) => name.split('-').includes(word))

if (words.length === 0) await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const desk = await startDesk()
const browser = await launchChromium(ensureChromium())

/** Takes a picture of a screen, where it is wanted. */
async function take(
  screen: string,
  look: string,
  options: BrowserContextOptions,
  picture: (page: Page, path: string) => Promise<unknown>,
) {
  const name = `${screen}-${look}`
  const found = screens[screen]
  if (found === undefined || !isWanted(name)) return
  const page = await browser.newPage({ reducedMotion: 'reduce', ...options })
  await found.prepare(page, desk)
  await page.goto(desk.origin + found.address, { waitUntil: 'networkidle' })
  await found.reach(page, desk)
  await picture(page, join(folder, name))
  await page.close()
}

try {
  for (const screen of Object.keys(screens)) {
    for (const [size, [width, height]] of Object.entries(windows)) {
      for (const [scheme, options] of Object.entries(schemes)) {
        await take(
          screen,
          `${size}-${scheme}`,
          { viewport: { width, height }, ...options },
          async (page, path) => {
            await page.screenshot({ path: `${path}.png` })
            await page.screenshot({ path: `${path}-whole.png`, fullPage: true })
          },
        )
      }
    }
    if (!screen.startsWith('form-')) continue
    await take(screen, 'print', {}, (page, path) => page.pdf({ path: `${path}.pdf`, format: 'A4' }))
  }
} finally {
  await browser.close()
  await desk.close()
}
console.log(`The pictures are in ${folder}/.`)
