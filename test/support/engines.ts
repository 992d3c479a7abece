import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, firefox, webkit, type BrowserType, type LaunchOptions, type Page } from 'playwright-core'
import { Builder, By, Key, until, type WebDriver } from 'selenium-webdriver'
import { waitForServer } from 'selenium-webdriver/http/util.js'

import { chromiumArguments, findExecutable } from './browser.ts'
import { freePort } from './ports.ts'
import { within } from './within.ts'

/** The timeout of each wait, in milliseconds. */
const timeout = 30_000

/** In a wider window the desk shows list and application side by side, and the focus goes elsewhere. */
const viewport = { width: 800, height: 600 }

/** A started engine. */
export interface Engine {
  /** Opens a fresh browser. Only one is open at a time. */
  browser(): Promise<EngineBrowser>
  stop(): Promise<void>
}

/** A browser with one page, used with keys and clicks as a person would. Elements are named by CSS selectors. */
export interface EngineBrowser {
  open(url: string): Promise<void>
  type(selector: string, text: string): Promise<void>
  click(selector: string): Promise<void>
  /** Presses a key by its name in `KeyboardEvent.key`. */
  press(key: 'Tab' | 'ArrowDown' | ' ' | '1' | 'p' | 'r', shift?: 'Shift'): Promise<void>
  /** Resolves when such an element exists. */
  waitFor(selector: string): Promise<void>
  /** The value of a JavaScript expression in the page. */
  evaluate(expression: string): Promise<unknown>
  close(): Promise<void>
}

/**
 * Functions that find an engine. Each returns a function that starts the engine, or undefined if it is not installed. For Firefox
 * and WebKit, Playwright's build takes precedence over the system's.
 */
export const engines: Record<string, () => (() => Promise<Engine>) | undefined> = {
  chromium() {
    const executablePath = findExecutable(['chromium', 'chromium-browser', 'google-chrome'])
    return executablePath === undefined
      ? undefined
      : () => startWithPlaywright(chromium, { executablePath, args: chromiumArguments() })
  },
  firefox() {
    if (existsSync(firefox.executablePath())) return () => startWithPlaywright(firefox)
    const executablePath = findExecutable(['firefox-esr', 'firefox'])
    // Playwright drives a Firefox that it did not build over WebDriver BiDi.
    const channel = 'moz-firefox'
    return executablePath === undefined
      ? undefined
      : () => startWithPlaywright(firefox, { executablePath, channel })
  },
  webkit() {
    if (existsSync(webkit.executablePath())) return () => startWithPlaywright(webkit)
    const driver = findExecutable(['WebKitWebDriver'])
    const browser = findExecutable([], miniBrowsers())
    const virtualDisplay = process.env['DISPLAY'] ? undefined : findExecutable(['xvfb-run'])
    if (driver === undefined || browser === undefined) return undefined
    if (virtualDisplay === undefined && !process.env['DISPLAY']) return undefined
    return () =>
      startWithWebDriver(virtualDisplay === undefined ? [driver] : [virtualDisplay, '-a', driver], browser)
  },
}

/** The possible paths of WebKitGTK's own browser. The machine's architecture is in the name of its folder. */
function miniBrowsers() {
  try {
    return readdirSync('/usr/lib').map((machine) =>
      join('/usr/lib', machine, 'webkit2gtk-4.1', 'MiniBrowser'),
    )
  } catch {
    return []
  }
}

async function startWithPlaywright(type: BrowserType, options: LaunchOptions = {}): Promise<Engine> {
  const engine = await type.launch({ timeout, ...options })
  return {
    browser: async () => browserOfPage(await engine.newPage({ viewport })),
    stop: () => engine.close(),
  }
}

function browserOfPage(page: Page): EngineBrowser {
  page.setDefaultTimeout(timeout)
  return {
    open: async (url) => void (await page.goto(url)),
    type: (selector, text) => page.locator(selector).first().pressSequentially(text),
    // A locator tries again if the page replaces the element meanwhile.
    click: (selector) => page.locator(selector).first().click(),
    press: (key, shift) => page.keyboard.press(shift ? `${shift}+${key}` : key),
    waitFor: async (selector) => void (await page.waitForSelector(selector, { state: 'attached' })),
    evaluate: (expression) => page.evaluate(expression),
    close: () => page.close(),
  }
}

/** The timeout for beginning a session, in milliseconds. A healthy driver needs less than a second. */
const sessionTimeout = 10_000

/**
 * Drives WebKitGTK with its own driver over the W3C's WebDriver protocol. On a busy machine the browser does not start in
 * about one session of a hundred. Such a session is retried with a new driver.
 */
async function startWithWebDriver(command: string[], binary: string): Promise<Engine> {
  let driver = await startDriver(command)
  const startSession = async (tries: number): Promise<EngineBrowser> => {
    const session = new Builder()
      .usingServer(driver.address)
      .withCapabilities({
        browserName: 'MiniBrowser',
        'webkitgtk:browserOptions': { binary, args: ['--automation'] },
      })
      .build()
    try {
      return browserOfSession(
        await within(sessionTimeout, 'beginning a session of WebKit', Promise.resolve(session)),
      )
    } catch (error) {
      if (tries === 1) throw error
      console.warn('WebKit’s driver began no session, and is started again:', error)
      await driver.stop()
      driver = await startDriver(command)
      return startSession(tries - 1)
    }
  }
  return { browser: () => startSession(3), stop: () => driver.stop() }
}

async function startDriver([program = '', ...arguments_]: string[]) {
  const port = await freePort()
  // A separate process group, so that the display and the browser end with the driver.
  const server = spawn(program, [...arguments_, `--port=${port}`], { stdio: 'ignore', detached: true })
  const ended = once(server, 'exit')
  const address = `http://127.0.0.1:${port}`
  await waitForServer(`${address}/`, timeout)
  return {
    address,
    async stop() {
      if (server.pid !== undefined) process.kill(-server.pid)
      await ended
    },
  }
}

function browserOfSession(driver: WebDriver): EngineBrowser {
  return {
    open: (url) => driver.get(url),
    type: (selector, text) => driver.findElement(By.css(selector)).sendKeys(text.replaceAll('\n', Key.ENTER)),
    click: (selector) => driver.findElement(By.css(selector)).click(),
    async press(key, shift) {
      const pressed = { Tab: Key.TAB, ArrowDown: Key.ARROW_DOWN, ' ': Key.SPACE, 1: '1', p: 'p', r: 'r' }[key]
      const keys = driver.actions()
      await (
        shift ? keys.keyDown(Key.SHIFT).sendKeys(pressed).keyUp(Key.SHIFT) : keys.sendKeys(pressed)
      ).perform()
    },
    waitFor: async (selector) => void (await driver.wait(until.elementLocated(By.css(selector)), timeout)),
    evaluate: (expression) => driver.executeScript(`return (${expression})`),
    close: () => driver.quit(),
  }
}
