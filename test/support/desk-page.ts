import type { Page } from 'playwright-core'
import { beforeAll, beforeEach } from 'vitest'

import { applicantsOf, type Applicants, type Organiser } from './applicants.ts'
import { signPageIn, startDesk, type DeskServer } from './desk.ts'
import { resetDatabase } from './reset.ts'
import type { OpenOptions as VisitorOptions, Visitor } from './browser-test.ts'

/** The server of a test file, with organisers and applications. */
interface TestFileDesk
  extends Pick<DeskServer, 'origin' | 'sql' | 'killAndRestart' | 'signedIn'>, Applicants {
  readonly ada: Organiser
  readonly bob: Organiser
  /** Opens a page of the desk. */
  open(visitor: Visitor, path?: string, options?: OpenOptions): Promise<Page>
}

/** What a server writes at its start. A reset of the database must keep it. A server with a sender sends emails. */
interface Written {
  site: string
  sender: string
  zone: string | null
}

interface OpenOptions extends VisitorOptions {
  as?: Organiser
  prepare?: (page: Page) => Promise<unknown>
  /** Whether `open` returns before the script has its data, for a test that delays or refuses responses. */
  skipsWait?: boolean
}

/**
 * Starts a server for the test file that calls this. Each of its tests begins with the contents of a new database.
 */
export function deskForTestFile(
  settings: () => Promise<Record<string, string>> = async () => ({}),
): TestFileDesk {
  let parts: { server: DeskServer; written: Written; ada: Organiser; bob: Organiser } | undefined
  const running = () => {
    if (parts === undefined)
      throw new Error('The server has not started yet. Use it in a test or a hook of the test file.')
    return parts
  }

  beforeAll(async () => {
    const server = await startDesk(await settings())
    const organiser = async (email: string) => ({ email, client: await server.signedIn(email) })
    const [written] = await server.sql<[Written]>`select site, sender, zone from private.places`
    parts = {
      server,
      written,
      ada: await organiser('ada@example.org'),
      bob: await organiser('bob@example.org'),
    }
  })
  beforeEach(async () => {
    await resetDatabase(desk.sql)
    const { site, sender, zone } = running().written
    await desk.sql`update private.places set site = ${site}, sender = ${sender}, zone = ${zone}`
    if (sender !== '') await desk.sql`update private.postman set seen_at = now()`
  })

  const desk: TestFileDesk = {
    get origin() {
      return running().server.origin
    },
    get sql() {
      return running().server.sql
    },
    get ada() {
      return running().ada
    },
    get bob() {
      return running().bob
    },
    ...applicantsOf(
      () => running().server.sql,
      () => running().bob,
    ),
    async open(visitor, path = '', options = {}) {
      const { as = running().ada, prepare = async () => {}, skipsWait = false, ...context } = options
      const address = `${desk.origin}/desk${path === '' ? '' : `#${path}`}`
      const opened = await visitor.open(address, context, async (page) => {
        page.setDefaultTimeout(20_000)
        await signPageIn(as.client)(page)
        await prepare(page)
      })
      // The script replaces rows that were drawn early, and a test must not hold elements that disappear.
      if (!skipsWait) await opened.waitForFunction(() => !window.earlyInput)
      return opened
    },
    killAndRestart: () => running().server.killAndRestart(),
    signedIn: (email) => running().server.signedIn(email),
  }
  return desk
}

/** The parts of the desk, as an organiser finds them. */
export function getDesk(page: Page) {
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const tabs = page.getByRole('navigation', { name: 'Status' }).getByRole('link')
  const row = (name: string) => page.locator('tbody tr', { has: link(name) })
  return {
    button,
    link,
    row,
    /** The names of all rows, in order. */
    names: () => page.locator('tbody .rows-name a').allTextContents(),
    /** The status that a row shows, with a sign while it is being saved. */
    rowStatus: async (name: string) => (await row(name).locator('.decisions-pill').textContent()) ?? '',
    /** The status that the open application shows. */
    pill: page.locator('.application-head .decisions-pill'),
    select: (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true }),
    tab: (name: string) => tabs.filter({ hasText: name }),
    tabs: () => tabs.evaluateAll((all) => all.map(({ textContent }) => textContent?.trim() ?? '')),
    search: page.getByLabel('Search', { exact: true }),
    note: page.getByLabel('Note', { exact: true }),
    heading: (name: string) => page.getByRole('heading', { level: 1, name, exact: true }),
    status: page.getByRole('status'),
    alert: page.locator('.desk-problems .layout-notice'),
    bar: page.locator('.decisions-bar'),
    /** The undo button, whose text names the decision. */
    undo: page.locator('.decisions-bar .decisions-undo'),
    dialog: page.getByRole('dialog'),
    position: page.locator('.layout-back .layout-quiet'),
    timeline: page.locator('.application-timeline li'),
  }
}

/** Records the names of the database's functions that a page calls. Returns a list that grows with each call. */
export function recordCalls(page: Page): string[] {
  const names: string[] = []
  page.on('request', (request) => {
    const [, name] = /\/rpc\/(\w+)$/.exec(request.url()) ?? []
    if (name !== undefined) names.push(name)
  })
  return names
}

/** The focused element's tag, and its name or text. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    const hasLabels = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
    const name =
      element?.getAttribute('aria-label') ?? (hasLabels ? element.labels?.[0]?.textContent : undefined)
    return `${element?.tagName}: ${name ?? element?.textContent ?? ''}`.slice(0, 60)
  })
}
