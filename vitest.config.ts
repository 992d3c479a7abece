import { defineConfig, mergeConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import vite from './vite.config.ts'

/** Begins with what waits most: at the end the processors would wait with it. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waits = ({ moduleId }: TestSpecification) => /e2e.(frozen|kills)\.test\.ts$/.test(moduleId)
    // oxlint-disable-next-line unicorn/no-array-sort -- the library's own method, which changes nothing
    return (await super.sort(files)).toSorted((a, b) => Number(waits(b)) - Number(waits(a)))
  }
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
      // Those of a deployment need what stands around the product: nginx, pgbouncer, the Supabase CLI and
      // `@supabase/lite`.
      include:
        environment.mode === 'deployment'
          ? ['e2e/deployment/*.test.ts']
          : ['src/**/*.test.{ts,tsx}', 'e2e/*.test.ts'],
    },
  }),
)
