import type { Browser, Page } from 'playwright-core'

import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { signPageIn, startDesk } from '../test/support/desk.ts'
import { anApplication } from '../test/support/form.ts'
import { printTable } from './table.ts'
import { valuesOf } from '../test/support/sql.ts'

const rounds = 3
const accentedLetter = `a${'\u0301'.repeat(9_999)}`

interface ApplicationTexts {
  reason: string
  last_name: string
  company: string
}

/** Texts of an application that could slow down the browser of its reader, after ordinary ones to compare with. */
const hostileTexts: Record<string, ApplicationTexts> = {
  ordinary: { reason: 'To hear myself think. '.repeat(20), last_name: 'Lovelace', company: 'Engines' },
  'a word of one script': repeated('x'),
  'a word of a letter with kerning': repeated('r'),
  'a word of two directions': repeated('xع'),
  'a word of four scripts': repeated('xع漢я'),
  'line ends': repeated('\n'),
  'accents on one letter': {
    reason: accentedLetter.repeat(10),
    last_name: accentedLetter,
    company: accentedLetter,
  },
  'overrides of the direction': repeated('\u202ex'),
}

/** Makes the longest texts that the database accepts by repeating a unit. */
function repeated(unit: string): ApplicationTexts {
  const name = unit.repeat(10_000 / unit.length)
  return { reason: unit.repeat(100_000 / unit.length), last_name: name, company: name }
}

/** Measures the processor time of the page's main thread, in milliseconds, until the result of a task is painted. */
async function busyTime(page: Page, task: () => Promise<unknown>) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const taskTime = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
  }
  const before = await taskTime()
  await task()
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  return (await taskTime()) - before
}

/** Returns the minimum of some rounds, because the thread never takes less than the required work. */
async function least(measure: () => Promise<number>) {
  const times = []
  for (let round = 0; round < rounds; round += 1) times.push(await measure())
  return Math.min(...times)
}

/** Measures the cost of opening strangers' texts at the desk, and of entering them in the form. */
export async function benchHostileText(): Promise<void> {
  const desk = await startDesk()
  const browser: Browser = await launchChromium(ensureChromium())
  const organiser = await desk.signedIn('ada@example.org')
  const signIn = signPageIn(organiser)
  const rows: string[][] = []
  let ordinary: number[] = []
  for (const [name, texts] of Object.entries(hostileTexts)) {
    await desk.sql`truncate public.retreat_applications cascade`
    const applications = Array.from({ length: 5 }, () => anApplication(texts))
    const ids = await desk.sql<{ id: string }[]>`
      insert into public.retreat_applications ${valuesOf(applications)} returning id`
    const decisions = ids.map(({ id }) => ({ id, version: 0, status: 'accepted' }))
    await organiser.rpc('desk_decide', { act: crypto.randomUUID(), decisions }).throwOnError()
    const timeToOpen = (address: string, selector: string) =>
      least(async () => {
        const page = await browser.newPage({ viewport: { width: 1366, height: 650 } })
        await signIn(page)
        const time = await busyTime(page, async () => {
          await page.goto(`${desk.origin}/desk#${address}`)
          await page.locator(selector).first().waitFor()
        })
        await page.close()
        return time
      })
    const timeToType = () =>
      least(async () => {
        const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
        await page.goto(desk.origin)
        // A person also clicks and waits for the page's script before typing or pasting.
        await page.click('#reason')
        await page.waitForFunction(() => window.isReady)
        const time = await busyTime(page, () =>
          page.locator('#reason').evaluate(
            (field: HTMLTextAreaElement, text) => {
              field.value = text
              field.dispatchEvent(new Event('input', { bubbles: true }))
            },
            texts.reason.slice(0, 50_000),
          ),
        )
        await page.close()
        return time
      })
    const times = [
      await timeToOpen('/?status=all', 'tbody .rows-name a'),
      await timeToOpen(`/applications/${ids[0]?.id}`, '.application-answers'),
      await timeToOpen('/letters/drafts/accepted', '.drafts-draft .letters-letter'),
      await timeToOpen('/letters/templates/accepted', '.letters-letter'),
      await timeToType(),
    ]
    if (ordinary.length === 0) ordinary = times
    rows.push([
      name,
      ...times.map(
        (time, index) => `${time.toFixed()} (${(time / (ordinary[index] ?? Number.NaN)).toFixed(1)})`,
      ),
    ])
  }
  printTable(
    `Reasons of 100,000 characters, names and companies of 10,000 (milliseconds on the main thread, the least of ${rounds} rounds; in brackets: how many times as long as with ordinary text)`,
    ['', 'list', 'application', 'drafts', 'preview', 'typing into 50,000 characters'],
    rows,
  )
  await browser.close()
  await desk.close()
}
