import type { TestProject } from 'vitest/node'

import { ensureChromium, findExecutable } from '../browser.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the browser that tests drive. */
    chromium: string
  }
}

/** Runs before browser tests. Finds or installs a browser. */
export default function setup(project: TestProject): void {
  // chromium-headless-shell is Chromium without windows. It opens a page in a third of the time.
  project.provide('chromium', findExecutable(['chromium-headless-shell']) ?? ensureChromium())
}
