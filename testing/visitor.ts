import axe from 'axe-core'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core'
import { expect, inject, test as base } from 'vitest'

import { chromiumArguments } from './browser.ts'

export interface OpenOptions extends BrowserContextOptions {
  /**
   * Whether nothing was ever fetched or compiled in the browser context. Otherwise it may be one that an earlier test of the
   * file used, emptied of all but its cache: there a page of the desk takes less than half the time.
   */
  isNew?: boolean
}

/** Somebody with a browser. */
export interface Visitor {
  /** Opens a page of a browser context of its own, and watches it: an error in its console fails the test. */
  open(url: string, options?: OpenOptions, prepare?: (page: Page) => Promise<unknown>): Promise<Page>
  /** Says that console errors like this one belong to the journey. */
  expects(message: RegExp): void
}

/** A browser context that is used again, and a page in it that keeps its process. */
interface Kept {
  context: BrowserContext
  keeper: Page
  /** Whether nothing was done to it that stays. */
  isClean: boolean
}

interface Fixtures {
  browser: Browser
  /** Those that no test uses now, by what they were asked for as. */
  idle: Map<string, Kept[]>
  visitor: Visitor
}

/** A test in which a visitor uses a real Chromium. */
export const test = base.extend<Fixtures>({
  browser: [
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads from the pattern which fixtures are wanted
    async ({}, provide) => {
      const browser = await chromium.launch({
        executablePath: inject('chromium'),
        // Pages of one context share a process, and what it has compiled.
        args: [...chromiumArguments(), '--renderer-process-limit=1'],
      })
      await provide(browser)
      await browser.close()
    },
    // One that all workers shared would be driven by the program that they have in common, which took 34 s for it.
    { scope: 'worker' },
  ],
  idle: [
    async ({ browser }, provide) => {
      await provide(new Map())
      await Promise.all(browser.contexts().map((context) => context.close()))
    },
    { scope: 'file' },
  ],
  visitor: async ({ browser, idle }, provide) => {
    const problems: string[] = []
    const expected: RegExp[] = []
    const endings: (() => Promise<unknown>)[] = []
    const anotherNew = async (options: BrowserContextOptions) => {
      const context = await browser.newContext(options)
      endings.push(() => context.close())
      return context
    }
    const used = async (origin: string, options: BrowserContextOptions) => {
      const key = JSON.stringify([origin, options])
      const others = idle.get(key) ?? []
      idle.set(key, others)
      const kept = others.pop() ?? (await keep(browser, origin, options))
      endings.push(async () => {
        if (await emptied(kept)) others.push(kept)
      })
      return kept.context
    }
    await provide({
      async open(url, { isNew = false, ...given } = {}, prepare = async () => {}) {
        const options: BrowserContextOptions = { reducedMotion: 'reduce', ...given }
        const context = await (isNew ? anotherNew(options) : used(new URL(url).origin, options))
        const page = await context.newPage()
        page.on('pageerror', (error) => problems.push(error.message))
        page.on('console', (message) => {
          if (['error', 'warning'].includes(message.type())) problems.push(message.text())
        })
        // React's development version tells a browser's tools of each element and each render by these, and nobody looks.
        await page.addInitScript(() => {
          Reflect.deleteProperty(console, 'createTask')
          Reflect.deleteProperty(console, 'timeStamp')
        })
        await prepare(page)
        await page.goto(url)
        return page
      },
      expects: (message) => expected.push(message),
    })
    await Promise.all(endings.map((end) => end()))
    expect(problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)))).toEqual([])
  },
})

async function keep(browser: Browser, origin: string, options: BrowserContextOptions): Promise<Kept> {
  const context = await browser.newContext(options)
  const keeper = await context.newPage()
  // Without a request that the server would count.
  await keeper.route('**', (route) => route.fulfill({ body: '' }))
  await keeper.goto(origin)
  const kept: Kept = { context, keeper, isClean: true }
  // A clock stays in every page that is opened later.
  const install = context.clock.install.bind(context.clock)
  context.clock.install = (time) => {
    kept.isClean = false
    return install(time)
  }
  return kept
}

/** @returns Whether it can be used again. */
async function emptied({ context, keeper, isClean }: Kept) {
  if (!isClean) {
    await context.close()
    return false
  }
  const pages = context.pages().filter((page) => page !== keeper)
  await Promise.all(pages.map((page) => page.close()))
  await context.setOffline(false)
  await context.clearCookies()
  await keeper.evaluate(() => localStorage.clear())
  return true
}

/**
 * What axe finds on the page as it is now.
 *
 * @param rules All of its rules, or those that look at colours: as AA asks for, or AAA.
 */
export async function accessibilityProblems(
  page: Page,
  rules: 'all' | 'colours' | 'colours, AAA' = 'all',
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const violations = await page.evaluate(async (wanted) => {
    const own = Reflect.get(window, 'axe') as typeof axe
    // The page has neither frames nor media, which are what it would load first.
    const only = {
      all: {},
      colours: { runOnly: ['color-contrast', 'link-in-text-block'] },
      'colours, AAA': { runOnly: ['cat.color'] },
    }
    return (await own.run({ ...only[wanted], resultTypes: ['violations'], preload: false })).violations
  }, rules)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  )
}

/** Shows the page a sign that someone will write; resolves when its script has taken the form over. */
export async function hydrated(page: Page): Promise<void> {
  await page.locator('form').dispatchEvent('pointerdown')
  await page.waitForFunction(() =>
    Object.keys(document.querySelector('form') ?? {}).some((name) => name.startsWith('__react')),
  )
}
