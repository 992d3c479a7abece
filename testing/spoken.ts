import type { Page } from 'playwright-core'

/** What differs from run to run, and what stands in its place. */
const changing: [RegExp, string][] = [
  [/\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?: \d{4})?(?:, \d\d:\d\d)?/g, 'DAY'],
  [/\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?\b/g, 'DAY'],
  [/\b(?:[01]\d|2[0-3]):[0-5]\d\b/g, 'HOUR'],
  [/\b\d:[0-5]\d\b/g, 'CLOCK'],
  [/\b1\.\d+\.\d+(?:-dev)?(?:\+[0-9a-f]+)?/g, 'VERSION'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID'],
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/\b[A-Z2-7]{32,}\b/g, 'SECRET'],
]

/** What a page is to a screen reader, by Playwright's aria snapshot, without what is another thing in each run. */
export async function spokenIn(page: Page): Promise<string> {
  const snapshot = await page.locator('body').ariaSnapshot()
  return `${changing.reduce((text, [what, word]) => text.replaceAll(what, word), snapshot)}\n`
}
