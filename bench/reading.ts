import type { Page } from 'playwright-core'

import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { signPageIn } from '../test/support/desk.ts'
import { filledDesk } from './filled-desk.ts'
import { slowDown } from './visit-cost.ts'
import { printTable, spread } from './table.ts'

/** The number of people to read and decide on. */
const people = 200
const keys = ['a', 'd', 's', 'w']

declare global {
  interface Window {
    /** When a key was pressed, and when the next reason entered the document, in milliseconds of the page's clock. */
    shownReasons?: { pressed: number; inDocument: number }[]
    /** The timings of keys that took at least 16 ms until the next paint, by the time of the press. */
    keyTimings?: Map<number, { handled: number; painted: number }>
  }
}

/** Records in the page when keys are pressed, and when the next reason enters the document and is painted. */
async function watch(page: Page) {
  await page.evaluate(() => {
    const shown: { pressed: number; inDocument: number }[] = []
    const timings = new Map<number, { handled: number; painted: number }>()
    Object.assign(window, { shownReasons: shown, keyTimings: timings })
    let pressed = 0
    let former = location.hash
    addEventListener('keydown', ({ timeStamp }) => (pressed = timeStamp), { capture: true })
    new MutationObserver(() => {
      if (location.hash === former || !document.querySelector('.application-long')) return
      former = location.hash
      shown.push({ pressed, inDocument: performance.now() })
    }).observe(document.body, { subtree: true, childList: true })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntriesByName('keydown') as PerformanceEventTiming[])
        timings.set(entry.startTime, {
          handled: entry.processingEnd,
          painted: entry.startTime + entry.duration,
        })
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
  })
}

/**
 * The milliseconds from each key to the paint of the next applicant's reason, in steps of 8, as in the browser's Event Timing
 * (W3C).
 */
async function timesOf(page: Page) {
  return await page.evaluate(
    (frame) =>
      (window.shownReasons ?? []).map(({ pressed, inDocument }) => {
        const timing = window.keyTimings?.get(pressed)
        // The browser does not report keys that take less than 16 ms.
        const painted = timing?.painted ?? pressed + 16
        // If a reason entered the document after its key was handled, it was painted in a later frame.
        return Math.max(painted, inDocument + (inDocument > (timing?.handled ?? 0) ? frame : 0)) - pressed
      }),
    1000 / 60,
  )
}

/** Reads and decides on many people with keys alone. Returns the times, and the number of keys for each person. */
async function readAll(page: Page, isAutoAdvancing: boolean) {
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.locator('.application-long').waitFor()
  await watch(page)
  let keyCount = 0
  for (let count = 1; count <= people; count += 1) {
    await page.keyboard.press(keys[count % keys.length] ?? 'a')
    if (!isAutoAdvancing) {
      // Two fingers need about this long between two keys.
      await page.waitForTimeout(100)
      await page.keyboard.press('j')
    }
    keyCount += isAutoAdvancing ? 1 : 2
    await page.waitForFunction((wanted) => (window.shownReasons?.length ?? 0) >= wanted, count)
    // Even a fast reader needs this long for a reason.
    await page.waitForTimeout(500)
  }
  return { times: await timesOf(page), perPerson: keyCount / people }
}

/** Measures reading and deciding on two hundred people with keys alone, on the processor of a slow phone. */
export async function benchReading(): Promise<void> {
  const rows: string[][] = []
  const browser = await launchChromium(ensureChromium())
  for (const isAutoAdvancing of [false, true]) {
    const { desk, client } = await filledDesk(400)
    const page = await browser.newPage({ viewport: { width: 1366, height: 768 } })
    await signPageIn(client)(page)
    await page.addInitScript(
      (isOn) => localStorage.setItem('unplugged-desk-goes-on', isOn ? 'on' : 'off'),
      isAutoAdvancing,
    )
    await slowDown(page)
    await page.goto(`${desk.origin}/desk`)
    await page.locator('table.rows-table a').first().waitFor()
    // Enter does nothing until the desk's script has loaded.
    await page.waitForFunction(() => window.earlyInput === null)
    const { times, perPerson } = await readAll(page, isAutoAdvancing)
    const slowCount = times.filter((time) => time > 100).length
    rows.push([
      isAutoAdvancing ? 'a decision, which opens the next' : 'a decision, then j',
      String(perPerson),
      spread(times),
      String(slowCount),
    ])
    await page.close()
    await desk.close()
  }
  printTable(
    `${people} people read and decided on by keys, on a slow phone's processor and line (4x CPU, 150 ms), in ms from key to the paint of the next reason`,
    ['', 'keys a person', 'until the next reason', 'over 100 ms'],
    rows,
  )
  await browser.close()
}
