import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'

import { ensureCluster } from '../src/server/database/cluster.ts'
import { chromiumArguments, ensureChromium } from './browser.ts'
import { temporaryDirectory } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser that all test files share is driven. */
    browser: string
  }
}

/** Before all tests: what they run is built from what they were written for, there is a browser, and an empty database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  execFileSync('npm', ['run', '--silent', 'build', '--', '--logLevel', 'warn'], { stdio: 'inherit' })

  const browser = await chromium.launchServer({
    executablePath: ensureChromium(),
    args: chromiumArguments(),
  })
  project.provide('browser', browser.wsEndpoint())

  const directory = await temporaryDirectory()
  const cluster = await ensureCluster(directory.path, true)
  await cluster.stop()
  await rm(join(directory.path, 'postgres.log'))
  process.env['PREPARED_DATABASE'] = directory.path

  return async () => {
    await browser.close()
    await directory.remove()
  }
}
