// @ts-nocheck: what it imports is there once the command that needs it has run.
import v8 from '@vitest/coverage-v8'

/** Vitest's own provider of V8's coverage, under a name by which its workers do not look for it beside Vitest. */
export default {
  ...v8,
  async getProvider() {
    return Object.assign(await v8.getProvider(), { name: 'custom' })
  },
}
