import { dirname, resolve } from 'node:path'
import type { Plugin } from 'vite'
import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config'

import tests from '../../vitest.config.ts'

const replacedModule = resolve('test/support/worker-postgres.ts')

/** Gives tests their databases on the profiled PostgreSQL, if Debian's PostgreSQL is installed. */
const profiledDatabase: Plugin = {
  name: 'profiled-database',
  enforce: 'pre',
  resolveId(source, importer) {
    if (process.env['PROFILED_POSTGRES'] === undefined || importer === undefined) return undefined
    const isReplaced = resolve(dirname(importer), source) === replacedModule
    return isReplaced ? resolve('tools/proofs/profiled-database.ts') : undefined
  },
}

/** The tests with V8's coverage. Tiers inherit no plugins. */
export default defineConfig({
  ...tests,
  test: {
    ...tests.test,
    projects: (tests.test?.projects ?? []).map((tier) =>
      mergeConfig(tier as ViteUserConfig, { plugins: [profiledDatabase] }),
    ),
    coverage: {
      enabled: true,
      provider: 'custom',
      customProviderModule: resolve('tools/proofs/coverage-provider.js'),
      include: ['src/**/*.{ts,tsx}'],
      reporter: ['json'],
      reportsDirectory: 'tools/proofs/reports/coverage',
      reportOnFailure: true,
    },
  },
})
