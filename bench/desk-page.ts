import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'

import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { signPageIn } from '../test/support/desk.ts'
import { filledDesk } from './filled-desk.ts'
import { measureVisit, serveDocument, slowDown } from './visit-cost.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 7
const phone = { viewport: { width: 412, height: 823 } }
const nameLink = 'table.rows-table a'

declare global {
  interface Window {
    /** Milliseconds from the request for the page to the frame with the wanted element. */
    appeared?: Promise<number>
  }
}

/** Records in the page when an element was painted. Playwright's own wait may check only every 500 ms. */
function recordAppearance(selector: string) {
  window.appeared = new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector(selector)) return
      observer.disconnect()
      // A timer could run after those of the page.
      const options = { priority: 'user-blocking' } as const
      requestAnimationFrame(() => void scheduler.postTask(() => resolve(performance.now()), options))
    })
    observer.observe(document, { childList: true, subtree: true })
  })
}

/** Milliseconds that a visitor reads the page that they come from. The browser meanwhile prepares a process for the next page. */
const readingTime = 1_000

/**
 * Measures the milliseconds from a slow phone's request for a page to the wanted element.
 *
 * @param from A page of another site, from which the visitor comes. The browser then draws the next page in another process, as
 *   it does after a search or in a new tab. From a blank page it would do so only for our page, because of its
 *   `cross-origin-opener-policy`.
 */
async function timeToAppear(
  context: BrowserContext,
  from: string,
  url: string,
  selector: string,
  prepare: (page: Page) => Promise<unknown> = async () => {},
): Promise<number> {
  const page = await context.newPage()
  await page.goto(from)
  await page.waitForTimeout(readingTime)
  await prepare(page)
  await page.addInitScript(recordAppearance, selector)
  await slowDown(page)
  await page.goto(url, { waitUntil: 'commit' })
  const time = await page.evaluate(() => window.appeared)
  await page.close()
  return time ?? NaN
}

/** Measures the milliseconds from a click to the new status on screen, and to its confirmation. */
async function decisionTimes(page: Page) {
  return page.evaluate(
    () =>
      new Promise<{ shown: number; confirmed: number }>((resolve) => {
        const pill = document.querySelector('.application-head .decisions-pill')
        const formerStatus = pill?.textContent
        const started = performance.now()
        let shown: number | undefined
        const check = () => {
          if (pill?.textContent !== formerStatus) shown ??= performance.now() - started
          if (shown !== undefined && pill?.getAttribute('aria-busy') === 'false') {
            observer.disconnect()
            resolve({ shown, confirmed: performance.now() - started })
          }
        }
        const observer = new MutationObserver(check)
        observer.observe(document.body, {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        })
        const label = formerStatus === 'Accepted' ? 'Decline' : 'Accept'
        const button = [...document.querySelectorAll('.decisions-bar button')].find(
          (each) => each.textContent === label,
        )
        ;(button as HTMLElement).click()
      }),
  )
}

/**
 * Measures our page and the floor, a hand-written page, in turns. The first round is a warm-up.
 *
 * @returns The cells of a table: our times, the floor's, and their ratio.
 */
async function measureInTurns(measure: () => Promise<{ ours: number; floor: number }>) {
  const ours: number[] = []
  const floor: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const times = await measure()
    if (round === 0) continue
    ours.push(times.ours)
    floor.push(times.floor)
  }
  return [spread(ours), spread(floor), ratio(ours, floor)]
}

/** Measures an organiser's waiting times in the browser. Compares them with hand-written pages of the same content. */
export async function benchDeskPage(): Promise<void> {
  const { desk, client } = await filledDesk(1_000)
  const signIn = signPageIn(client)
  const floorOf = (name: string) =>
    serveDocument(readFileSync(`bench/floor/${name}.html`, 'utf8'), {}, desk.origin)
  const [floorForm, floorList] = await Promise.all([floorOf('sign-in'), floorOf('list')])
  const from = floorForm.url.replace('127.0.0.1', 'localhost')
  const ours = `${desk.origin}/desk`
  const browser: Browser = await launchChromium(ensureChromium())

  /** Measures in a new browser context, where nothing is cached. */
  const inNewContext = async (work: (context: BrowserContext) => Promise<number>) => {
    const context = await browser.newContext(phone)
    const time = await work(context)
    await context.close()
    return time
  }
  const field = 'input[type=email]'
  const fieldTimes = await measureInTurns(async () => ({
    ours: await inNewContext((context) => timeToAppear(context, from, ours, field)),
    floor: await inNewContext((context) => timeToAppear(context, from, floorForm.url, field)),
  }))
  const listTimes = await measureInTurns(async () => ({
    ours: await inNewContext((context) => timeToAppear(context, from, ours, nameLink, signIn)),
    floor: await inNewContext((context) => timeToAppear(context, from, floorList.url, nameLink, signIn)),
  }))
  const cachedContext = await browser.newContext(phone)
  const cachedListTimes = await measureInTurns(async () => ({
    ours: await timeToAppear(cachedContext, from, ours, nameLink, signIn),
    floor: await timeToAppear(cachedContext, from, floorList.url, nameLink, signIn),
  }))
  await cachedContext.close()

  const firstPaints: number[] = []
  const bytes: number[] = []
  const shown: number[] = []
  const confirmed: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const visit = await measureVisit(browser, ours)
    const context = await browser.newContext()
    const page = await context.newPage()
    await signIn(page)
    await page.goto(ours)
    await page.locator(nameLink).first().click()
    await page.locator('.application-head .decisions-pill').waitFor()
    const times = await decisionTimes(page)
    await context.close()
    if (round === 0) continue
    firstPaints.push(visit.firstPaint)
    bytes.push(visit.bytes)
    shown.push(times.shown)
    confirmed.push(times.confirmed)
  }
  printTable(
    `The desk on a slow phone, in ms (150 ms round trip, 1.6 Mbit/s, 4x CPU; ${rounds} rounds, in turns)`,
    ['', 'desk', 'floor', 'ratio to the floor'],
    [
      ['the email field of the sign-in', ...fieldTimes],
      ['the first list, signed in, nothing cached', ...listTimes],
      ['the same with the script cached', ...cachedListTimes],
    ],
  )
  printTable(
    `The desk in the browser, in ms (${rounds} rounds)`,
    ['', 'ms'],
    [
      [`slow phone: first paint (${((bytes[0] ?? 0) / 1000).toFixed(1)} kB in all)`, spread(firstPaints)],
      ['a decision is shown', spread(shown, 1)],
      ['a decision is saved', spread(confirmed, 1)],
    ],
  )
  await browser.close()
  for (const floor of [floorForm, floorList]) floor.close()
  await desk.close()
}
