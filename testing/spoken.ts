import type { Page } from 'playwright-core'

/** What differs from run to run, and what stands in its place. */
const changing: [RegExp, string][] = [
  // One of today is told by its hour alone, and any other by its day.
  [
    /\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?: \d{4})?(?:, \d\d:\d\d)?|\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?\b|\b(?:[01]\d|2[0-3]):[0-5]\d\b/g,
    'WHEN',
  ],
  [/\b\d:[0-5]\d\b/g, 'CLOCK'],
  // The tests count whom they make up.
  [/\bada\.\d+@/g, 'ada.N@'],
  [/\b1\.\d+\.\d+(?:-dev)?(?:\+[0-9a-f]+)?/g, 'VERSION'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID'],
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/\b[A-Z2-7]{32,}\b/g, 'SECRET'],
]

/** Rows and items of a list that are kept: those that follow are of the same kind. */
const mostAlike = 4

/**
 * What a page is to a screen reader, by Playwright's aria snapshot, without what is another thing in each run, and of long tables
 * and lists only the beginning.
 */
export async function spokenIn(page: Page): Promise<string> {
  const snapshot = await page.locator('body').ariaSnapshot()
  const counts = new Map<number, number>()
  let left: number | undefined
  const kept = snapshot.split('\n').filter((line) => {
    const depth = line.search(/\S/)
    if (left !== undefined && depth > left) return false
    left = undefined
    for (const deeper of counts.keys()) if (deeper > depth) counts.delete(deeper)
    const count = /^\s*- (?:row|listitem)\b/.test(line) ? (counts.get(depth) ?? 0) + 1 : 0
    counts.set(depth, count)
    if (count > mostAlike) left = depth
    return count <= mostAlike
  })
  return `${changing.reduce((text, [what, word]) => text.replaceAll(what, word), kept.join('\n'))}\n`
}

/** The same once nothing of it has changed for two seconds, to be kept. */
export async function settled(page: Page): Promise<string> {
  let last = ''
  let now = await spokenIn(page)
  while (now !== last) {
    last = now
    await page.waitForTimeout(2_000)
    now = await spokenIn(page)
  }
  return now
}
