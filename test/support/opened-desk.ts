import { configure, fireEvent, prettyDOM, screen, waitFor } from '@testing-library/dom'
import { userEvent, type UserEvent } from '@testing-library/user-event'
import { createRoot } from 'react-dom/client'
import { afterEach, beforeAll, beforeEach, expect } from 'vitest'

import type { DeskData } from '../../src/pages/desk/desk-data.ts'
import { createDeskPage } from '../../src/pages/desk/desk-page.tsx'
import { pageDataId } from '../../src/pages/page-data.ts'
import { announce } from '../../src/pages/desk/kit/announce.tsx'
import { loadScreens } from '../../src/pages/desk/kit/lazy-screen.tsx'
import { pendingActs } from '../../src/pages/desk/kit/useAct.ts'
import { forgetUnsentText } from '../../src/pages/desk/data/useUnsentText.ts'
import { actRetryDelays } from '../../src/client/session.ts'
import { sessionKey } from '../../src/client/stored-session.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { applicantsOf, type Applicants, type Organiser } from './applicants.ts'
import { atTestEnd } from './cleanup.ts'
import { recordProblems } from './console.ts'
import { dom } from './dom.ts'
import { interceptCalls, type Network } from './intercepted-fetch.ts'
import { resetDatabase } from './reset.ts'
import { anonKey, startSignIn, type SignInServer } from './sign-in-server.ts'

/** Milliseconds after which a wait fails. */
const timeout = 20_000
/** Milliseconds of the shortest interval that a test skips. */
const shortestInterval = 10_000
/** Reads and decisions are retried without delay. Unit tests cover the back-off (`src/client/retry.test.ts`). */
const retryDelays = [0, 0]

/** Waits until React has run the effects of what it has just rendered, as a person is never faster than that. */
const effectsHaveRun = async () => {
  for (let task = 0; task < 2; task += 1) await new Promise((resolve) => setImmediate(resolve))
}

configure({
  asyncUtilTimeout: timeout,
  // Wraps each wait and each act of a person.
  asyncWrapper: async (run) => {
    const result = await run()
    await effectsHaveRun()
    return result
  },
  // Printing the document for each failed try would take most of the time. A failed test prints it once.
  getElementError: (message) => new Error(message ?? 'not found'),
})

/** The desk as an organiser has opened it. */
export interface OpenedDesk {
  /** Presses keys and clicks, with all the events of a real one. */
  user: UserEvent
  network: Network
  /** Presses the button with this name, once it is shown. */
  press: (name: string | RegExp) => Promise<void>
  /** Follows the link with this name, once it is shown. */
  follow: (name: string | RegExp) => Promise<void>
  /** Replaces the text of a field, or a date, at once, as autofill does. */
  fill: (field: Element, text: string) => Promise<void>
  /** Goes to an address of the desk, as a link or the address bar does. */
  goTo: (path: string) => void
  /** Opens the desk again with what the browser has stored. Variables of modules keep their values, unlike in a browser. */
  reload: () => void
  /** Lets time pass, once nothing is pending, so that the desk reads again what it reads regularly. */
  refresh: () => Promise<void>
  /** Makes this window the active one, once nothing is pending, so that the desk reads again what it shows. */
  activateWindow: () => Promise<void>
  /** Waits until the last announcement is this sentence. */
  announced: (sentence: string | RegExp) => Promise<void>
  /** Declares that console errors like this one are expected. */
  allowConsoleError: (message: RegExp) => void
}

/** The desk's screens, on a server in this process. */
interface DeskScreens extends Applicants {
  readonly server: SignInServer
  readonly origin: string
  /** Connections of the schema's owner. */
  readonly sql: Sql
  readonly ada: Organiser
  readonly bob: Organiser
  /** Opens the desk, by default as Ada and at the list. Testing Library's `screen` finds its parts. */
  open(path?: string, options?: OpenOptions): Promise<OpenedDesk>
}

interface OpenOptions extends DocumentOptions {
  /** Who is signed in; null for nobody. */
  as?: Organiser | null
  /** Whether the next application opens after a decision or a mark. Most tests are about one application. */
  goesOn?: boolean
}

/** What the desk's document says. */
interface DocumentOptions {
  /** The words of the pages that the operator's settings have. */
  operator?: DeskData['operator']
  /** The address of a hosted project; null for the server itself. */
  backendUrl?: string | null
}

/**
 * Starts a server in this process for the test file that calls this. Each of its tests begins with the contents of a new database.
 *
 * @param settings The server's settings.
 */
export function deskScreensForTestFile(settings: Parameters<typeof startSignIn>[0] = {}): DeskScreens {
  let parts: { server: SignInServer; ada: Organiser; bob: Organiser } | undefined
  const running = () => {
    if (parts === undefined)
      throw new Error('The server has not started yet. Use it in a test or a hook of the test file.')
    return parts
  }
  const sql = () => running().server.database.owner

  beforeAll(async () => {
    const [server] = await Promise.all([startSignIn(settings), loadScreens()])
    const [ada, bob] = await Promise.all([
      server.signedIn('ada@example.org'),
      server.signedIn('bob@example.org'),
    ])
    parts = { server, ada, bob }
  })
  beforeEach(() => resetDatabase(sql()))
  // This hook runs before the desk is closed.
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.log(prettyDOM(document.body, 30_000, { highlight: false }))
  })

  return {
    ...applicantsOf(sql, () => running().bob),
    get server() {
      return running().server
    },
    get origin() {
      return running().server.origin
    },
    get sql() {
      return sql()
    },
    get ada() {
      return running().ada
    },
    get bob() {
      return running().bob
    },
    async open(path = '/', { as = running().ada, goesOn = false, ...options } = {}) {
      const { origin } = running().server
      if (as) {
        const { data } = await as.client.auth.getSession()
        localStorage.setItem(sessionKey, JSON.stringify(data.session))
      }
      // As for a returning organiser, the hints for the first visit are closed.
      localStorage.setItem('unplugged-desk-welcome', 'off')
      localStorage.setItem('unplugged-desk-goes-on', goesOn ? 'on' : 'off')
      dom.happyDOM.setURL(`${origin}/desk#${path}`)
      // Back returns to this address.
      history.replaceState(null, '', location.href)
      return openWindow(options)
    },
  }
}

/** Opens the desk with what the browser has stored. It is closed at the end of the test. */
function openWindow(options: DocumentOptions): OpenedDesk {
  const { network, restore } = interceptCalls()
  const { runIntervals, restoreIntervals } = recordIntervals()
  const restoreBackOff = skipDelays(actRetryDelays)
  const allowConsoleError = recordProblems()
  let unmount = mount(options)
  atTestEnd(() => {
    network.setOffline(false)
    const isLeft = pendingActs.size > 0
    unmount()
    restoreIntervals()
    restoreBackOff()
    restore()
    localStorage.clear()
    sessionStorage.clear()
    forgetUnsentText()
    announce('')
    // All desks of a worker have the same set of pending acts.
    expect(isLeft, 'an act is still pending').toBe(false)
  })
  const user = userEvent.setup({ document, delay: null, pointerEventsCheck: 0 })
  return {
    user,
    network,
    press: async (name) => user.click(await screen.findByRole('button', { name })),
    follow: async (name) => user.click(await screen.findByRole('link', { name })),
    async fill(field, text) {
      await user.click(field)
      fireEvent.input(field, { target: { value: text } })
    },
    goTo(path) {
      location.hash = path
    },
    reload() {
      unmount()
      unmount = mount(options)
    },
    async refresh() {
      await network.settled()
      runIntervals()
    },
    async activateWindow() {
      await network.settled()
      dispatchEvent(new Event('focus'))
    },
    announced: (sentence) =>
      waitFor(() => {
        const last = document.querySelector('.announce-words')?.textContent ?? ''
        expect(last).toMatch(sentence instanceof RegExp ? sentence : exactly(sentence))
      }),
    allowConsoleError,
  }
}

function mount({ operator = {}, backendUrl = null }: DocumentOptions) {
  const data: DeskData = {
    // By default, the site's root is the address of the server.
    backend: { url: backendUrl, anonKey },
    isSignInElsewhere: false,
    title: 'Unplugged.',
    version: '1.2.3',
    operator,
  }
  document.body.innerHTML = '<main id="page"></main>'
  const element = document.createElement('script')
  Object.assign(element, { type: 'application/json', id: pageDataId, textContent: JSON.stringify(data) })
  document.body.append(element)
  const { desk } = createDeskPage(data, retryDelays)
  const root = createRoot(document.querySelector('main') ?? document.body)
  root.render(desk)
  return () => root.unmount()
}

/** `setTimeout` or `setInterval`. The `fetch` of Node.js calls them with further arguments. */
type Timer = (run: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) => NodeJS.Timeout

/** Records what the desk does regularly, so that a test need not wait for it. */
function recordIntervals() {
  const { setInterval, clearInterval } = globalThis
  const intervals = new Map<unknown, () => void>()
  const record: Timer = (run, delay = 0, ...args) => {
    const interval = setInterval(run, delay, ...args)
    if (delay >= shortestInterval) intervals.set(interval, () => run(...args))
    return interval
  }
  const forget = (interval?: Parameters<typeof clearInterval>[0]) => {
    intervals.delete(interval)
    clearInterval(interval)
  }
  Object.assign(globalThis, { setInterval: record, clearInterval: forget })
  return {
    runIntervals: () => [...intervals.values()].forEach((run) => run()),
    restoreIntervals: () => Object.assign(globalThis, { setInterval, clearInterval }),
  }
}

/** Makes timers with these delays fire at once, such as those before a retry. Returns a function that restores the delays. */
export function skipDelays(delays: readonly number[]): () => void {
  const { setTimeout } = globalThis
  const withoutDelay: Timer = (run, delay = 0, ...args) =>
    setTimeout(run, delays.includes(delay) ? 0 : delay, ...args)
  Object.assign(globalThis, { setTimeout: Object.assign(withoutDelay, setTimeout) })
  return () => void Object.assign(globalThis, { setTimeout })
}

function exactly(sentence: string) {
  return new RegExp(`^${sentence.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`)
}
