/** Ends everything that a test or its file started. Runs in every test file. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

import { beginScope, endScope } from '../cleanup.ts'

beforeAll(beginScope)
beforeEach(beginScope)
afterEach(endScope)
afterAll(endScope)
