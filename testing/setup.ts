import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

import { ensureCluster } from '../src/server/database/cluster.ts'
import { openDatabase } from '../src/server/database/database.ts'
import { ensureChromium, findExecutable } from './browser.ts'
import { dataDirectory, temporaryDirectory } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The program of the browser that tests drive. */
    chromium: string
  }
}

/** Before all tests: what they run is built from what they were written for, there is a browser, and databases to copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', '--silent', 'build', '--', '--logLevel', 'warn'], { stdio: 'inherit' })

  // The same engine without a window around it, which opens a page in a third of the time.
  project.provide('chromium', findExecutable(['chromium-headless-shell']) ?? ensureChromium())

  const cluster = await temporaryDirectory()
  await (await ensureCluster(cluster.path, true)).stop()
  await rm(join(cluster.path, 'postgres.log'))
  process.env['PREPARED_CLUSTER'] = cluster.path

  const database = await dataDirectory('cluster')
  await (
    await openDatabase({ dataDir: database.path, databaseUrl: undefined }, { schema: 'migrate' })
  ).close()
  await rm(join(database.path, 'postgres.log'))
  process.env['PREPARED_DATABASE'] = database.path

  return async () => {
    await Promise.all([cluster.remove(), database.remove()])
  }
}
