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
import { countRequests } from './refresh.ts'

export interface OpenOptions extends BrowserContextOptions {
  /**
   * Whether the browser context must have an empty cache. By default it keeps the cache of an earlier test of the file, but
   * nothing else. With this cache, a page of the desk opens in less than half the time.
   */
  isNew?: boolean
}

/** A person with a browser. */
export interface Visitor {
  /** Opens a page in a separate browser context. An error in the page's console fails the test. */
  open(url: string, options?: OpenOptions, prepare?: (page: Page) => Promise<unknown>): Promise<Page>
  /** Declares that console errors like this one are expected. */
  allowConsoleError(message: RegExp): void
}

/** A reusable browser context, and a page that keeps the context's process alive. */
interface ReusableContext {
  context: BrowserContext
  keptPage: Page
  /** Whether the context can be reset. An installed clock cannot be removed. */
  isClean: boolean
}

interface Fixtures {
  browser: Browser
  /** The contexts that no test is using, by their origin and options. */
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
    // One browser for all workers would be driven by Vitest's main process, and take 34 s of its processor time.
    { scope: 'worker' },
  ],
  idle: [
    async ({ browser }, provide) => {
      await provide(new Map())
      await Promise.all(browser.contexts().map((context) => context.close()))
    },
    { scope: 'file' },
  ],
  visitor: async ({ browser, idle, task }, provide) => {
    const problems: string[] = []
    const allowed: RegExp[] = []
    const endings: (() => Promise<unknown>)[] = []
    const opened: Page[] = []
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
      async open(url, { isNew = false, ...contextOptions } = {}, prepare = async () => {}) {
        const options: BrowserContextOptions = { reducedMotion: 'reduce', ...contextOptions }
        const context = await (isNew ? createContext(options) : reuseContext(new URL(url).origin, options))
        const page = await context.newPage()
        opened.push(page)
        countRequests(page)
        routeFromNextAct(page)
        page.on('pageerror', (error) => problems.push(error.message))
        page.on('console', (message) => {
          if (['error', 'warning'].includes(message.type())) problems.push(message.text())
        })
        // React's development version reports each element and each render to the developer tools with these functions. No
        // developer tools are open.
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
    if (task.result?.state === 'fail') await showPages(opened, problems)
    await Promise.all(endings.map((end) => end()))
    expect(problems.filter((problem) => !allowed.some((pattern) => pattern.test(problem)))).toEqual([])
  },
})

/** Prints what a failed test saw: the text of its pages, and all errors of their consoles. */
async function showPages(pages: Page[], problems: string[]) {
  const textOf = (page: Page) => page.locator('body').innerText({ timeout: 1000 }).catch(String)
  console.error(
    ['The pages of the failed test:', ...(await Promise.all(pages.map(textOf))), ...problems].join('\n'),
  )
}

/**
 * Makes `page.route` return only once the page sends its requests to the route. Without this, a request of the next key or
 * click can pass the route on a busy machine: the browser hands keys and routes to the page separately.
 */
function routeFromNextAct(page: Page) {
  const route = page.route.bind(page)
  page.route = async (...options) => {
    const added = await route(...options)
    // The page runs this after it received the route.
    await page.evaluate(() => {})
    return added
  }
}

async function createReusableContext(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
): Promise<ReusableContext> {
  const context = await browser.newContext(options)
  const keptPage = await context.newPage()
  // Opens the origin without a request, which the server would count.
  await keptPage.route('**', (route) => route.fulfill({ body: '' }))
  await keptPage.goto(origin)
  const reusable: ReusableContext = { context, keptPage, isClean: true }
  // An installed clock remains in all later pages.
  const install = context.clock.install.bind(context.clock)
  context.clock.install = (time) => {
    reusable.isClean = false
    return install(time)
  }
  return reusable
}

/** @returns Whether the context can be used again. */
async function resetContext({ context, keptPage, isClean }: ReusableContext) {
  if (!isClean) {
    await context.close()
    return false
  }
  const pages = context.pages().filter((page) => page !== keptPage)
  await Promise.all(pages.map((page) => page.close()))
  await context.setOffline(false)
  await context.clearCookies()
  await keptPage.evaluate(() => localStorage.clear())
  return true
}

/**
 * Finds accessibility problems of the current page with axe.
 *
 * @param rules All of axe's rules, or only its rules about colours, for AA or AAA.
 */
export async function accessibilityProblems(
  page: Page,
  rules: 'all' | 'colours' | 'colours, AAA' = 'all',
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const violations = await page.evaluate(async (wanted) => {
    const loadedAxe = Reflect.get(window, 'axe') as typeof axe
    // Without `preload`, because the page has no frames or media for axe to load first.
    const only = {
      all: {},
      colours: { runOnly: ['color-contrast', 'link-in-text-block'] },
      'colours, AAA': { runOnly: ['cat.color'] },
    }
    return (await loadedAxe.run({ ...only[wanted], resultTypes: ['violations'], preload: false })).violations
  }, rules)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  )
}

/** Signals to the page that a person is about to type. Resolves when the page's script has taken over the form. */
export async function waitForTakeOver(page: Page): Promise<void> {
  await page.locator('form').dispatchEvent('pointerdown')
  await page.waitForFunction(() => window.isReady)
}

/** Connects an offline page again. Resolves when a request gets a response: a busy Chromium connects its network later. */
export async function reconnect(page: Page): Promise<void> {
  await page.context().setOffline(false)
  const isOnline = () =>
    fetch('./', { method: 'HEAD' }).then(
      () => navigator.onLine,
      () => false,
    )
  await page.waitForFunction(isOnline)
}
