import type { SupabaseClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach } from 'vitest'

import type { Application } from '../../src/application/application.ts'
import type { Status } from '../../src/application/statuses.ts'
import { signPageIn, startDesk, type DeskServer } from './desk.ts'
import { anApplication } from './form.ts'
import { resetDatabase } from './reset.ts'
import type { OpenOptions as VisitorOptions, Visitor } from './visitor.ts'
import { valuesOf } from './sql.ts'

/** A signed-in organiser. */
interface Organiser {
  email: string
  client: SupabaseClient
}

type Stored = Application & { id: string; created_at: Date }

/** The server of a test file, with organisers and applications. */
interface TestFileDesk extends Pick<DeskServer, 'origin' | 'sql' | 'killAndRestart' | 'signedIn'> {
  readonly ada: Organiser
  readonly bob: Organiser
  /** Stores applications. Unless they have times, they are a minute apart, the newest first. */
  store(applications: (Partial<Application> & { created_at?: Date })[]): Promise<Stored[]>
  /** Lets an organiser decide, by default Bob. */
  setStatus(applications: readonly { id: string }[], status: Status, by?: Organiser): Promise<void>
  /** The status of an application in the database. */
  statusOf(id: string): Promise<string>
  /** Opens a page of the desk. */
  open(visitor: Visitor, path?: string, options?: OpenOptions): Promise<Page>
}

interface OpenOptions extends VisitorOptions {
  as?: Organiser
  prepare?: (page: Page) => Promise<unknown>
  /** Whether `open` returns before the script has its data, for a test that delays or refuses responses. */
  skipsWait?: boolean
}

/**
 * Starts a server for the test file that calls this. Each of its tests begins with the contents of a new database.
 *
 * @param checkout The folder with the built server, by default that with React's development version.
 */
export function deskForTestFile(
  settings: () => Promise<Record<string, string>> = async () => ({}),
  checkout?: string,
): TestFileDesk {
  let parts: { server: DeskServer; ada: Organiser; bob: Organiser } | undefined
  const running = () => {
    if (parts === undefined)
      throw new Error('The server has not started yet. Use it in a test or a hook of the test file.')
    return parts
  }

  beforeAll(async () => {
    const server = await startDesk(await settings(), undefined, checkout)
    const organiser = async (email: string) => ({ email, client: await server.signedIn(email) })
    parts = { server, ada: await organiser('ada@example.org'), bob: await organiser('bob@example.org') }
  })
  beforeEach(() => resetDatabase(desk.sql))

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
    async store(applications) {
      const now = Date.now()
      const rows = applications.map(({ created_at, ...answers }, index) => ({
        ...anApplication(answers),
        created_at: created_at ?? new Date(now - (index + 1) * 60_000),
      }))
      const ids = await desk.sql<{ id: string; email: string }[]>`
        insert into public.retreat_applications ${valuesOf(rows)} returning id`
      return rows.map((row, index) => ({ ...row, id: ids[index]?.id ?? '' }))
    },
    async setStatus(applications, status, { client } = running().bob) {
      const ids = applications.map(({ id }) => id)
      const current = await desk.sql<{ id: string; version: number }[]>`
        select id, coalesce(version, 0) as version
        from public.retreat_applications left join private.statuses on application_id = id where id = any(${ids})`
      await client
        .rpc('desk_decide', {
          act: crypto.randomUUID(),
          decisions: current.map((each) => ({ ...each, status })),
        })
        .throwOnError()
    },
    async statusOf(id) {
      const [row] = await desk.sql<{ status: string }[]>`
        select status from private.statuses where application_id = ${id}`
      return row?.status ?? 'new'
    },
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

/** Names and reasons of this many people, numbered from 1. */
export function people(count: number): { first_name: string; last_name: string; reason: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    first_name: 'Person',
    last_name: String(index + 1),
    // The same reason from several people would be junk.
    reason: `To think.\nWithout a screen, as person ${index + 1}.`,
  }))
}

/** The text that replaces the name of an applicant for blind readers. */
export const hiddenName = /^Application [\da-f]{4}$/

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
    alert: page.locator('.decisions-problems .layout-notice'),
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
