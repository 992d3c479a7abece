import type { Page } from 'playwright-core'

import { retryDelays as insertDelays } from '../../src/client/insert.ts'
import { retryDelays as callDelays } from '../../src/client/session.ts'
const retryDelays = [...insertDelays, ...callDelays]

/**
 * Makes a page retry without delay after a missing response, also after a reload. The back-off would take eight seconds of a
 * test. Unit tests cover it (`src/client/retry.test.ts`).
 */
export async function disableBackOff(page: Page): Promise<void> {
  const skipDelays = (delays: readonly number[]) => {
    const originalTimeout = window.setTimeout
    const withoutDelay = (run: TimerHandler, delay = 0, ...parameters: unknown[]) =>
      originalTimeout(run, delays.includes(delay) ? 0 : delay, ...parameters)
    Object.assign(window, { setTimeout: withoutDelay })
  }
  await page.addInitScript(skipDelays, retryDelays)
  await page.evaluate(skipDelays, retryDelays)
}
