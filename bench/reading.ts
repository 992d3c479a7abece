import type { Page } from 'playwright-core'

import { ensureChromium, launchChromium } from '../testing/browser.ts'
import { signInPage } from '../testing/desk.ts'
import { filledDesk } from './filled-desk.ts'
import { slowDown } from './paint.ts'
import { printTable, spread } from './table.ts'

/** How many people are read and decided on. */
const people = 200
const keys = ['a', 'd', 's', 'w']

declare global {
  interface Window {
    /** Milliseconds from each key to the frame that shows the next reason. */
    untilNext?: number[]
  }
}

/** Has the page note how long each key takes until the next application's reason is painted. */
async function watch(page: Page) {
  await page.evaluate(() => {
    const times: number[] = []
    window.untilNext = times
    let pressed = 0
    let former = location.hash
    addEventListener('keydown', ({ timeStamp }) => (pressed = timeStamp), { capture: true })
    new MutationObserver(() => {
      if (location.hash === former || !document.querySelector('.application-long')) return
      former = location.hash
      requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - pressed)))
    }).observe(document.body, { subtree: true, childList: true })
  })
}

/** Reads and decides on many people by keys alone, and gives the times, and the keys that each person took. */
async function readAll(page: Page, goesOn: boolean) {
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.locator('.application-long').waitFor()
  await watch(page)
  let pressed = 0
  for (let count = 1; count <= people; count += 1) {
    await page.keyboard.press(keys[count % keys.length] ?? 'a')
    if (!goesOn) await page.keyboard.press('j')
    pressed += goesOn ? 1 : 2
    await page.waitForFunction((wanted) => (window.untilNext?.length ?? 0) >= wanted, count)
    // Nobody reads a reason sooner.
    await page.waitForTimeout(500)
  }
  return { times: (await page.evaluate(() => window.untilNext)) ?? [], perPerson: pressed / people }
}

/** Two hundred people, read and decided on by keys alone, with the processor of a slow phone. */
export async function benchReading(): Promise<void> {
  const rows: string[][] = []
  const browser = await launchChromium(ensureChromium())
  for (const goesOn of [false, true]) {
    const { desk, client } = await filledDesk(400)
    const page = await browser.newPage({ viewport: { width: 1366, height: 768 } })
    await signInPage(client)(page)
    await page.addInitScript(
      (isOn) => localStorage.setItem('unplugged-desk-goes-on', isOn ? 'on' : 'off'),
      goesOn,
    )
    await slowDown(page)
    await page.goto(`${desk.origin}/desk`)
    await page.locator('table.rows-table a').first().waitFor()
    // The desk's script has come: until then Enter does nothing.
    await page.waitForFunction(() => window.earlyList === null)
    const { times, perPerson } = await readAll(page, goesOn)
    const late = times.filter((time) => time > 100).length
    rows.push([
      goesOn ? 'going on by itself' : 'a decision, and j',
      String(perPerson),
      spread(times),
      String(late),
    ])
    await page.close()
    await desk.close()
  }
  printTable(
    `${people} people read and decided on by keys, on a slow phone's processor and line (4x CPU, 150 ms), in ms from key to next reason`,
    ['', 'keys a person', 'until the next reason', 'over 100 ms'],
    rows,
  )
  await browser.close()
}
