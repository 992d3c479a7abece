import { dirname, resolve } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'

import tests from '../../vitest.config.ts'

const replacedModule = resolve('test/support/worker-postgres.ts')

/** The tests with V8's coverage. Their databases are on the profiled PostgreSQL, if Debian's PostgreSQL is installed. */
export default mergeConfig(
  tests,
  defineConfig({
    plugins: [
      {
        name: 'profiled-database',
        enforce: 'pre',
        resolveId(source, importer) {
          if (process.env['PROFILED_POSTGRES'] === undefined || importer === undefined) return undefined
          const isReplaced = resolve(dirname(importer), source) === replacedModule
          return isReplaced ? resolve('tools/proofs/profiled-database.ts') : undefined
        },
      },
    ],
    test: {
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
  }),
)
