import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { getForm } from '../test/support/form.ts'
import { dataDirectory, startServer } from '../test/support/server.ts'
import { slowDown } from './visit-cost.ts'
import { printTable, spread } from './table.ts'

const rounds = 15

interface TypingResult {
  /** The longest wait of a key, in milliseconds. */
  longest: number
  /** Milliseconds from the first key until the page's script had taken over the form. */
  takenOver: number
  keys: number
}

/** Measures how long keys wait that are typed while the page's script loads and takes over the form. */
export async function benchTyping(): Promise<void> {
  const directory = await dataDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const browser = await launchChromium(ensureChromium())

  const type = async (): Promise<TypingResult> => {
    const page = await browser.newPage({ viewport: { width: 412, height: 823 } })
    await slowDown(page)
    await page.addInitScript(() => {
      const waits: number[] = []
      Object.assign(window, { waits })
      const recordWaits = (list: PerformanceObserverEntryList) => {
        for (const entry of list.getEntries() as PerformanceEventTiming[]) {
          if (entry.name === 'keydown') waits.push(entry.processingStart - entry.startTime)
        }
      }
      // TypeScript's types lack `durationThreshold` of the Event Timing API.
      const options = { type: 'event', durationThreshold: 16, buffered: true }
      new PerformanceObserver(recordWaits).observe(options)
      new PerformanceObserver(recordWaits).observe({ type: 'first-input', buffered: true })
    })
    await page.goto(server.origin, { waitUntil: 'networkidle' })
    await page.evaluate(() => document.getElementById('first_name')?.focus({ preventScroll: true }))
    const start = performance.now()
    let typed = ''
    let takenOver = Number.NaN
    let keysAfter = 0
    // Types as fast as possible, until 20 keys were typed after that.
    while (keysAfter < 20) {
      const key = 'abcdefghijklmnopqrstuvwxyz'[typed.length % 26] ?? ''
      await page.keyboard.press(key)
      typed += key
      if (keysAfter > 0) keysAfter += 1
      else if (await page.evaluate(() => window.isReady === true)) {
        takenOver = performance.now() - start
        keysAfter = 1
      }
    }
    if ((await getForm(page).firstName.inputValue()) !== typed) throw new Error('A key was lost.')
    const waits = await page.evaluate(() => Reflect.get(window, 'waits') as number[])
    await page.close()
    return { longest: Math.max(0, ...waits), takenOver, keys: typed.length }
  }

  const all: TypingResult[] = []
  for (let round = 0; round < rounds; round += 1) all.push(await type())
  printTable(
    `Keys typed on a slow phone while the script loads and takes over the form (4x CPU, 150 ms, 1.6 Mbit/s; ${rounds} visits)`,
    ['keys', 'the longest wait of a key, ms', 'until the form was taken over, ms'],
    [
      [
        spread(all.map(({ keys }) => keys)),
        spread(all.map(({ longest }) => longest)),
        spread(all.map(({ takenOver }) => takenOver)),
      ],
    ],
  )
  await browser.close()
  await server.stop()
  await directory.remove()
}
