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
   * Whether the browser context must have an empty cache. By default an earlier test of the file may have used it, and only its
   * cache is kept. A page of the desk then takes less than half the time.
   */
  isNew?: boolean
}

/** Somebody with a browser. */
export interface Visitor {
  /** Opens a page in a browser context of its own, and watches it: an error in its console fails the test. */
  open(url: string, options?: OpenOptions, prepare?: (page: Page) => Promise<unknown>): Promise<Page>
  /** Declares that console errors like this one are expected. */
  allowConsoleError(message: RegExp): void
}

/** A reusable browser context, and a page in it that keeps its process. */
interface ReusableContext {
  context: BrowserContext
  keptPage: Page
  /** Whether nothing permanent was changed in it. */
  isClean: boolean
}

interface Fixtures {
  browser: Browser
  /** The contexts that no test uses now, by the options they were made for. */
  idle: Map<string, ReusableContext[]>
  visitor: Visitor
}

/** A test in which a visitor uses a real Chromium. */
export const test = base.extend<Fixtures>({
  browser: [
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads from the pattern which fixtures are wanted
    async ({}, provide) => {
      const browser = await chromium.launch({
        executablePath: inject('chromium'),
        // Pages of one context share a process and its compiled code.
        args: [...chromiumArguments(), '--renderer-process-limit=1'],
      })
      await provide(browser)
      await browser.close()
    },
    // One browser for all workers would be driven by their shared main process, which took 34 s for it.
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
    const allowed: RegExp[] = []
    const endings: (() => Promise<unknown>)[] = []
    const createContext = async (options: BrowserContextOptions) => {
      const context = await browser.newContext(options)
      endings.push(() => context.close())
      return context
    }
    const reuseContext = async (origin: string, options: BrowserContextOptions) => {
      const key = JSON.stringify([origin, options])
      const others = idle.get(key) ?? []
      idle.set(key, others)
      const reusable = others.pop() ?? (await createReusableContext(browser, origin, options))
      endings.push(async () => {
        if (await resetContext(reusable)) others.push(reusable)
      })
      return reusable.context
    }
    await provide({
      async open(url, { isNew = false, ...given } = {}, prepare = async () => {}) {
        const options: BrowserContextOptions = { reducedMotion: 'reduce', ...given }
        const context = await (isNew ? createContext(options) : reuseContext(new URL(url).origin, options))
        const page = await context.newPage()
        page.on('pageerror', (error) => problems.push(error.message))
        page.on('console', (message) => {
          if (['error', 'warning'].includes(message.type())) problems.push(message.text())
        })
        // React's development version reports each element and each render to the developer tools with these, and no tools are
        // open.
        await page.addInitScript(() => {
          Reflect.deleteProperty(console, 'createTask')
          Reflect.deleteProperty(console, 'timeStamp')
        })
        await prepare(page)
        await page.goto(url)
        return page
      },
      allowConsoleError: (message) => allowed.push(message),
    })
    await Promise.all(endings.map((end) => end()))
    expect(problems.filter((problem) => !allowed.some((pattern) => pattern.test(problem)))).toEqual([])
  },
})

async function createReusableContext(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
): Promise<ReusableContext> {
  const context = await browser.newContext(options)
  const keptPage = await context.newPage()
  // Without a request that the server would count.
  await keptPage.route('**', (route) => route.fulfill({ body: '' }))
  await keptPage.goto(origin)
  const reusable: ReusableContext = { context, keptPage: keptPage, isClean: true }
  // An installed clock remains in all later pages.
  const install = context.clock.install.bind(context.clock)
  context.clock.install = (time) => {
    reusable.isClean = false
    return install(time)
  }
  return reusable
}

/** @returns Whether it can be used again. */
async function resetContext({ context, keptPage: keeper, isClean }: ReusableContext) {
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
 * The problems that axe finds on the current page.
 *
 * @param rules All of its rules, or only those about colours, for AA or AAA.
 */
export async function accessibilityProblems(
  page: Page,
  rules: 'all' | 'colours' | 'colours, AAA' = 'all',
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const violations = await page.evaluate(async (wanted) => {
    const own = Reflect.get(window, 'axe') as typeof axe
    // The page has no frames or media, which axe would load first.
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

/** Signals to the page that someone is about to type. Resolves when its script has taken the form over. */
export async function waitForHydration(page: Page): Promise<void> {
  await page.locator('form').dispatchEvent('pointerdown')
  await page.waitForFunction(() =>
    Object.keys(document.querySelector('form') ?? {}).some((name) => name.startsWith('__react')),
  )
}
