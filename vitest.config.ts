import { configDefaults, defineConfig } from 'vitest/config'

import { LongWaitsFirst } from './testing/sequencer.ts'
import { inlineScript } from './tools/plugins/inline-script.ts'
import { pageImages } from './tools/plugins/page-images.ts'
import { pageScripts } from './tools/plugins/page-scripts.ts'
import { versionOf } from './tools/version.js'

const sourceTests = 'src/**/*.test.{ts,tsx}'
const databaseTests = [
  'src/server/{auth/{calls,mail},backups,database,deliveries,doctor,health,letters,mail,rest,retention}/**/*.test.ts',
]

const runSetup = 'testing/setup/run.ts'
const databasesSetup = 'testing/setup/databases.ts'
const buildSetup = 'testing/setup/build.ts'
const browserSetup = 'testing/setup/browser.ts'

/** Makes a tier of the tests, a project of Vitest, from the test files and the setup that they need. */
function tier(name: string, include: string[], globalSetup: string[], exclude: string[] = []) {
  return {
    extends: true as const,
    // Tests that run the server in the process of the test need its pages there.
    plugins: globalSetup.length > 0 ? [pageScripts(), pageImages(), inlineScript()] : [],
    test: { name, include, exclude: [...configDefaults.exclude, ...exclude], globalSetup },
  }
}

export default defineConfig({
  // The same as in vite.config.ts.
  define: { 'import.meta.env.VERSION': JSON.stringify(versionOf('.')) },
  test: {
    projects: [
      tier('unit', [sourceTests, 'tools/**/*.test.ts'], [], databaseTests),
      tier('database', databaseTests, [runSetup, databasesSetup]),
      // Browser tests, and other tests of whole programs. `npm test` runs this tier and the two above.
      tier('browser', ['e2e/*.test.ts'], [runSetup, databasesSetup, buildSetup, browserSetup]),
      // Commands, each as a separate program; freezes, kills and full disks; attacks; axe, focus and keyboard in every
      // state.
      tier(
        'slow',
        ['e2e/{accessibility,attacks,commands,failures,long}/*.test.ts'],
        [runSetup, databasesSetup, buildSetup, browserSetup],
      ),
      // The product with other software, such as nginx, pgbouncer and the Supabase CLI.
      tier('deployment', ['e2e/deployment/*.test.ts'], [runSetup, databasesSetup, buildSetup, browserSetup]),
    ],
    setupFiles: 'testing/setup/scopes.ts',
    // These timeouts end only tests that hang: on a machine that is ten times as busy, the longest tests take minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 20_000 } },
    // Most tests wait for PostgreSQL, a browser or a timeout.
    maxWorkers: 4,
    // Each worker reads imported files once. No test leaves a module changed.
    isolate: false,
    sequence: { sequencer: LongWaitsFirst },
  },
})
