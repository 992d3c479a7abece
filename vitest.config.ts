import { configDefaults, defineConfig } from 'vitest/config'

import { LongWaitsFirst } from './testing/sequencer.ts'
import { inlineScript } from './tools/plugins/inline-script.ts'
import { pageImages } from './tools/plugins/page-images.ts'
import { pageScripts } from './tools/plugins/page-scripts.ts'
import { versionOf } from './tools/version.js'

const inSource = 'src/**/*.test.{ts,tsx}'
const ofDatabase = [
  'src/server/{auth/{calls,mail},backups,database,deliveries,doctor,health,letters,mail,rest}/**/*.test.ts',
]

const run = 'testing/setup/run.ts'
const databases = 'testing/setup/databases.ts'
const build = 'testing/setup/build.ts'
const browser = 'testing/setup/browser.ts'

/** A tier: its tests, and what has to be there before them. */
function tier(name: string, include: string[], globalSetup: string[], exclude: string[] = []) {
  return {
    extends: true as const,
    // Tests that run the server in their own process have the pages in it.
    plugins: globalSetup.length > 0 ? [pageScripts(), pageImages(), inlineScript()] : [],
    test: { name, include, exclude: [...configDefaults.exclude, ...exclude], globalSetup },
  }
}

export default defineConfig({
  // As vite.config.ts has it for the build.
  define: { 'import.meta.env.VERSION': JSON.stringify(versionOf('.')) },
  test: {
    projects: [
      tier('unit', [inSource, 'tools/**/*.test.ts'], [], ofDatabase),
      tier('database', ofDatabase, [run, databases]),
      // Journeys, and what else runs whole programs: `npm test` has these three.
      tier('browser', ['e2e/*.test.ts'], [run, databases, build, browser]),
      // Commands, each time as a program of its own; freezes, kills and full disks; requests that mean harm; axe, focus
      // and keyboard in every state.
      tier(
        'slow',
        ['e2e/{accessibility,attacks,commands,failures,long}/*.test.ts'],
        [run, databases, build, browser],
      ),
      // The product with its surroundings: nginx, pgbouncer, the Supabase CLI and `@supabase/lite`.
      tier('deployment', ['e2e/deployment/*.test.ts'], [run, databases, build, browser]),
    ],
    setupFiles: 'testing/setup/scopes.ts',
    // A timeout for hanging tests: on a machine ten times as busy the longest of them take minutes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 20_000 } },
    // Most tests wait for PostgreSQL, a browser or a timeout.
    maxWorkers: 4,
    // Each worker reads imported files once. No test leaves a module changed.
    isolate: false,
    sequence: { sequencer: LongWaitsFirst },
  },
})
