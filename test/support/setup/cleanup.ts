/** Ends everything that a test or its file started. Runs in every test file. */
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest'

import { beginScope, endScope } from '../cleanup.ts'

beforeAll(beginScope)
beforeEach(beginScope)
afterEach(async () => {
  await endScope()
  // The files of a worker share its timers.
  vi.useRealTimers()
})
afterAll(endScope)
