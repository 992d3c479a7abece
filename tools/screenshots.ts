/** Takes pictures of the pages in all states, windows and schemes: `npm run screenshots`, or of some: `-- success print`. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'

import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { startDesk } from '../test/support/desk.ts'
import { countRequests } from '../test/support/refresh.ts'
import { screens } from '../test/support/all-screens.ts'

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

/** Takes a picture of a screen, if the command's words match it. */
async function take(
  screen: string,
  windowAndScheme: string,
  options: BrowserContextOptions,
  picture: (page: Page, path: string) => Promise<unknown>,
) {
  const name = `${screen}-${windowAndScheme}`
  const screenSteps = screens[screen]
  if (screenSteps === undefined || !isWanted(name)) return
  const page = await browser.newPage({ reducedMotion: 'reduce', ...options })
  countRequests(page)
  await screenSteps.prepare(page, desk)
  await page.goto(desk.origin + screenSteps.address, { waitUntil: 'networkidle' })
  await screenSteps.reachState(page, desk)
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
await writeSheet()
console.log(`The pictures are in ${folder}/, and all on one sheet in ${folder}/index.html.`)

/** Writes a sheet of thumbnails of all pictures, grouped by screen. Each thumbnail links to its picture. */
async function writeSheet() {
  const pictures = (await readdir(folder)).filter(
    (name) => name.endsWith('.png') && !name.endsWith('-whole.png'),
  )
  const rows = Object.keys(screens).map((screen) => {
    const screenPictures = pictures.filter((name) => screenOf(name) === screen)
    const thumbnails = screenPictures.map(
      (name) => `<a href="${name}"><img src="${name}" height="240" alt="${name}" title="${name}"></a>`,
    )
    return screenPictures.length === 0 ? '' : `<h2>${screen}</h2><p>${thumbnails.join(' ')}</p>`
  })
  const style = '<style>body{background:#777;font-family:system-ui}</style>'
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html><meta charset="utf-8"><title>Pictures</title>${style}${rows.join('')}`,
  )
}

/** The screen of a picture, which is the picture's name without the window and the scheme. */
function screenOf(picture: string) {
  return picture
    .replace(/\.png$/, '')
    .split('-')
    .slice(0, -2)
    .join('-')
}
