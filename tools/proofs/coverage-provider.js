// @ts-nocheck: what it imports is there once the command that needs it has run.
import v8 from '@vitest/coverage-v8'

/** Vitest's own V8 coverage provider under another name. Its workers look for the original name beside Vitest. */
export default {
  ...v8,
  async getProvider() {
    return Object.assign(await v8.getProvider(), { name: 'custom' })
  },
}
