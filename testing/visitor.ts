import axe from 'axe-core'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, inject, test as base } from 'vitest'

/** Somebody with a browser. */
export interface Visitor {
  /** Opens a page of a new browser context, and watches it: an error in its console fails the test. */
  open(
    url: string,
    options?: BrowserContextOptions,
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<Page>
  /** Says that console errors like this one belong to the journey. */
  expects(message: RegExp): void
}

interface Fixtures {
  browser: Browser
  visitor: Visitor
}

/** A test in which a visitor uses a real Chromium. */
export const test = base.extend<Fixtures>({
  browser: [
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads from the pattern which fixtures are wanted
    async ({}, provide) => {
      const browser = await chromium.connect(inject('browser'))
      await provide(browser)
      await browser.close()
    },
    { scope: 'file' },
  ],
  visitor: async ({ browser }, provide) => {
    const problems: string[] = []
    const expected: RegExp[] = []
    const contexts: { close(): Promise<void> }[] = []
    await provide({
      async open(url, options = {}, prepare = async () => {}) {
        const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
        contexts.push(context)
        const page = await context.newPage()
        page.on('pageerror', (error) => problems.push(error.message))
        page.on('console', (message) => {
          if (['error', 'warning'].includes(message.type())) problems.push(message.text())
        })
        await prepare(page)
        await page.goto(url)
        return page
      },
      expects: (message) => expected.push(message),
    })
    await Promise.all(contexts.map((context) => context.close()))
    expect(problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)))).toEqual([])
  },
})

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
