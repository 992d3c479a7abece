import type { Page } from 'playwright-core'

import { retryDelays as pausesOfInsert } from '../src/client/insert.ts'
import { retryDelays as pausesOfCall } from '../src/client/session.ts'

/**
 * Makes a page retry at once after a missing response, from now on and after a reload. Unit tests cover the back-off
 * (`src/client/retry.test.ts`), which would take eight seconds of a test.
 */
export async function withoutBackOff(page: Page): Promise<void> {
  const send = (pauses: readonly number[]) => {
    const later = window.setTimeout
    const sooner = (run: TimerHandler, after = 0, ...given: unknown[]) =>
      later(run, pauses.includes(after) ? 0 : after, ...given)
    Object.assign(window, { setTimeout: sooner })
  }
  const pauses = [...pausesOfInsert, ...pausesOfCall]
  await page.addInitScript(send, pauses)
  await page.evaluate(send, pauses)
}
