/** Takes the pages' pictures in every state, window and scheme: `npm run screenshots`, or some: `-- success print`. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'

import { answerStates, aToken, placesStand } from '../testing/answer-page.ts'
import { ensureChromium, launchChromium } from '../testing/browser.ts'
import { signInPage, startDesk } from '../testing/desk.ts'
import { deskStates, signedOutStates, standAsBefore, storeExamples } from '../testing/desk-states.ts'
import { states } from '../testing/states.ts'

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
await storeExamples(desk.sql)
const signIn = signInPage(await desk.signedIn('grace@example.org'))
const browser = await launchChromium(ensureChromium())

async function take(
  address: string,
  options: BrowserContextOptions,
  before: (page: Page) => Promise<void>,
  pictures: (page: Page) => Promise<unknown>,
) {
  const page = await browser.newPage({ reducedMotion: 'reduce', ...options })
  await before(page)
  await page.goto(desk.origin + address, { waitUntil: 'networkidle' })
  await pictures(page)
  await page.close()
}

/** Takes one state in each window and scheme. */
async function takeAll(
  state: string,
  address: string,
  before: (page: Page) => Promise<void>,
  reach: (page: Page) => Promise<void>,
) {
  for (const [size, [width, height]] of Object.entries(windows)) {
    for (const [scheme, options] of Object.entries(schemes)) {
      const name = `${state}-${size}-${scheme}`
      if (!isWanted(name)) continue
      await take(address, { viewport: { width, height }, ...options }, before, async (page) => {
        await reach(page)
        await page.screenshot({ path: join(folder, `${name}.png`) })
        await page.screenshot({ path: join(folder, `${name}-whole.png`), fullPage: true })
      })
    }
  }
}

const nothing = async () => {}

try {
  for (const [state, reach] of Object.entries(states)) {
    await takeAll(state, '/', nothing, reach)
    if (!isWanted(`${state}-print`)) continue
    await take('/', {}, nothing, async (page) => {
      await reach(page)
      await page.pdf({ path: join(folder, `${state}-print.pdf`), format: 'A4' })
    })
  }
  for (const [state, reach] of Object.entries(deskStates)) {
    const before = async (page: Page) => {
      await standAsBefore(desk.sql)
      await signIn(page)
    }
    await takeAll(`desk-${state}`, '/desk#/?status=all', before, reach)
  }
  for (const [state, { address, reach }] of Object.entries(signedOutStates)) {
    await takeAll(`desk-${state}`, address, nothing, reach)
  }
  for (const [state, { place, reach }] of Object.entries(answerStates)) {
    await takeAll(`answer-${state}`, `/answer/#${aToken()}`, (page) => placesStand(page, () => place), reach)
  }
} finally {
  await browser.close()
  await desk.close()
}
console.log(`The pictures are in ${folder}/.`)
