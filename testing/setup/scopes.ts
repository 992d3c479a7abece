/** For every test file: ends everything that a test or its file started. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

import { beginScope, endScope } from '../cleanup.ts'

beforeAll(beginScope)
beforeEach(beginScope)
afterEach(endScope)
afterAll(endScope)
