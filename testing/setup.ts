import { execFileSync } from 'node:child_process'
import type { TestProject } from 'vitest/node'

import { ensureChromium } from './browser.ts'

declare module 'vitest' {
  interface ProvidedContext {
    chromium: string
  }
}

/** Before all tests: what they run is built from what they were written for, and there is a browser. */
export default function setup(project: TestProject) {
  execFileSync('npm', ['run', '--silent', 'build', '--', '--logLevel', 'warn'], { stdio: 'inherit' })
  project.provide('chromium', ensureChromium())
}
