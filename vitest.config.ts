import { defineConfig, mergeConfig } from 'vitest/config'

import { WaitingFirst } from './testing/waiting-first.ts'
import vite from './vite.config.ts'

const tests = ['src/**/*.test.{ts,tsx}', 'e2e/*.test.ts']
const slow = 'e2e/{accessibility,attacks,commands,failures}/*.test.ts'

/** What a mode runs, where it is not what `npm test` does. */
const inModes: Record<string, string[]> = {
  // Commands, each time as a program of its own; freezes, kills and full disks; requests that mean harm; axe, focus and
  // keyboard in every state.
  slow: [slow],
  long: [...tests, slow],
  // What stands around the product: nginx, pgbouncer, the Supabase CLI and `@supabase/lite`.
  deployment: ['e2e/deployment/*.test.ts'],
}

export default defineConfig((environment) =>
  mergeConfig(vite(environment), {
    test: {
      globalSetup: 'testing/setup.ts',
      setupFiles: 'testing/tidy.ts',
      // For what hangs: on a machine ten times as busy the longest of them take minutes.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 20_000 } },
      // Most of them wait: for PostgreSQL, a browser, a time limit.
      maxWorkers: 4,
      // What the files import is read once a worker. No test changes a module.
      isolate: false,
      sequence: { sequencer: WaitingFirst },
      include: inModes[environment.mode] ?? tests,
    },
  }),
)
