import { configDefaults, defineConfig } from 'vitest/config'

/** Runs only the unit tests of the mutated folders, which need no build, browser or database. */
export default defineConfig({
  test: {
    include: ['src/{application,client,settings,cli,pages}/**/*.test.ts'],
    // Stryker's copy has no git history, so its version is unknown. Its threads cannot change the time zone.
    exclude: [...configDefaults.exclude, 'src/settings/version.test.ts', 'src/settings/time-zone.test.ts'],
    setupFiles: 'test/support/setup/cleanup.ts',
  },
})
