import { configDefaults, defineConfig } from 'vitest/config'

/** The unit tests of the rooms that are mutated, and nothing else: no build, no browser, no database. */
export default defineConfig({
  test: {
    include: ['src/{application,client,settings,cli,pages}/**/*.test.ts'],
    // A copy has no history that tells its version.
    exclude: [...configDefaults.exclude, 'src/settings/version.test.ts'],
    setupFiles: 'testing/tidy.ts',
  },
})
