/** For every test file: a test that fails, or that its time limit cuts off, leaves no program running. */
import { afterAll, afterEach, beforeEach } from 'vitest'

import { endAllBut, runningPrograms } from './left-running.ts'

let before = runningPrograms()

beforeEach(() => {
  before = runningPrograms()
})

afterEach(() => endAllBut(before))

afterAll(() => endAllBut(new Set()))
