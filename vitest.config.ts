import { configDefaults, defineConfig } from 'vitest/config'

import { FilesInOrder } from './test/support/sequencer.ts'
import { inlineScript } from './tools/plugins/inline-script.ts'
import { moduleCache } from './tools/plugins/module-cache.ts'
import { pageImages } from './tools/plugins/page-images.ts'
import { pageScripts } from './tools/plugins/page-scripts.ts'
import { sqlTexts } from './tools/plugins/sql-texts.ts'
import { versionOf } from './tools/version.js'

const version = versionOf('.')
/** The same as in vite.config.ts. */
const define = { 'import.meta.env.VERSION': JSON.stringify(version) }

const sourceTests = 'src/**/*.test.{ts,tsx}'
/**
 * Tests without a browser that take much of the time, and that few changes concern. Some start servers, or start or freeze databases.
 * The others are about what the server does in the background, and about GoTrue's calls.
 */
const slowServerTests = [
  'test/database/page-documents.test.ts',
  'src/server/database/{connection/{pool,pools},postgres/{cluster,minor-version},schema/dry-run}.test.ts',
  'src/server/{auth/calls,backups,doctor,health}/*.test.ts',
  'src/server/deliveries/{webhook-worker,webhook}.test.ts',
  'src/server/letters/{mail-sender,refusals}.test.ts',
  'src/server/mail/check.test.ts',
]
const databaseTests = [
  'src/server/{applications,auth/{calls,mail},backups,database,deliveries,doctor,health,letters,mail,metrics,rest,retention}/**/*.test.ts',
  'test/database/**/*.test.ts',
]

const runSetup = 'test/support/setup/run.ts'
const databasesSetup = 'test/support/setup/databases.ts'
/** The setup of tests of whole programs. Databases are prepared while the sources are built. */
const wholeSetup = [runSetup, 'test/support/setup/build.ts', databasesSetup, 'test/support/setup/browser.ts']
const whole = { setupFiles: ['test/support/setup/wait-for-build.ts'] }

/** Milliseconds for tests that wait for failovers, packages or many rounds (`npm run test:long`). */
const longTimeout = 600_000
const timeout = (quick: number) => (process.env['EXTENT'] === 'all' ? longTimeout : quick)

/**
 * Milliseconds after which a test or a hook of each tier has failed. They end only what hangs: a machine that is ten times as
 * slow stays below them.
 */
const timeouts = {
  unit: timeout(30_000),
  database: timeout(150_000),
  browser: timeout(150_000),
  slow: longTimeout,
  deployment: longTimeout,
}

/** Makes a tier of the tests, a project of Vitest, from the test files and the setup that they need. */
function tier(
  name: keyof typeof timeouts,
  include: string[],
  globalSetup: string[],
  options: { exclude?: string[]; setupFiles?: string[] } = {},
) {
  const { exclude = [], setupFiles = [] } = options
  return {
    define,
    plugins: [
      moduleCache(version),
      // Tests that run the server in the process of the test need its pages there.
      ...(globalSetup.length > 0 ? [pageScripts(), pageImages(), inlineScript(), sqlTexts()] : []),
    ],
    test: {
      name,
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      globalSetup,
      setupFiles: ['test/support/setup/cleanup.ts', ...setupFiles],
      // Messages name commands as npm runs them, also if Vitest was started without npm.
      env: { npm_lifecycle_event: 'test' },
      // CI shuffles the tests. Those of deployment are stories of one installed program.
      sequence: { shuffle: { tests: process.env['SHUFFLE'] === 'tests' && name !== 'deployment' } },
      testTimeout: timeouts[name],
      hookTimeout: timeouts[name],
      expect: { poll: { timeout: 20_000 } },
      // Most objects of a test are short-lived. With the default, Node.js collects garbage more often, for a twentieth of the time.
      execArgv: ['--max-semi-space-size=64'],
      // Each worker reads imported files once. No test leaves a module changed.
      isolate: false,
    },
  }
}

export default defineConfig({
  test: {
    projects: [
      // Browser tests, and other tests of whole programs. This project is the first, since its setup begins the build.
      tier('browser', ['test/{browser,system}/*.test.ts'], wholeSetup, whole),
      tier('unit', [sourceTests, 'tools/**/*.test.ts'], [], {
        // A run of test:mutation has a copy of all tests there.
        exclude: [...databaseTests, 'tools/proofs/.sandbox/**'],
      }),
      // The database, and the desk's screens without a browser, each against a server in the same process.
      tier('database', [...databaseTests, 'test/screens/**/*.test.ts'], [runSetup, databasesSetup], {
        exclude: slowServerTests,
        setupFiles: ['test/support/setup/postgres.ts', 'test/support/setup/screens.ts'],
      }),
      // Commands, each as a separate program; freezes, kills and full disks; attacks; load; updates of the schema; axe, focus
      // and keyboard in every state; rare screens, windows and hosts. `npm test` runs the tiers above.
      tier('slow', ['test/{browser,system}/*/*.test.ts', ...slowServerTests], wholeSetup, whole),
      // The product with other software, such as nginx, pgbouncer and the Supabase CLI.
      tier('deployment', ['test/deployment/*.test.ts'], wholeSetup, whole),
    ],
    // Most tests wait for PostgreSQL, a browser or a timeout. A fourth worker takes more processor time than it uses of idle time:
    // each reads all modules and starts a PostgreSQL.
    maxWorkers: 3,
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/unplugged-modules' },
    sequence: { sequencer: FilesInOrder },
  },
})
