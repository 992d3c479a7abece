import type { TestProject } from 'vitest/node'

import { ensureChromium } from '../browser.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the browser that tests drive. */
    chromium: string
  }
}

/** Runs before browser tests. Finds or installs a browser. */
export default function setup(project: TestProject): void {
  project.provide('chromium', ensureChromium('chromium-headless-shell'))
}
