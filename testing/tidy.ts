/** For every test file: what a test or its file started ends with it. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

import { beginScope, endScope } from './endings.ts'

beforeAll(beginScope)
beforeEach(beginScope)
afterEach(endScope)
afterAll(endScope)
