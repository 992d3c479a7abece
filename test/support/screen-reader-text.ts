import type { Page } from 'playwright-core'

/** Patterns of texts that differ from run to run, and their placeholders. */
const placeholders: [RegExp, string][] = [
  // The page shows only the time of day for today, and only the day for other days.
  [
    /\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?: \d{4})?(?:, \d\d:\d\d)?|\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?\b|\b(?:[01]\d|2[0-3]):[0-5]\d\b/g,
    'WHEN',
  ],
  // The time in which released letters can still be stopped.
  [/\b\d:[0-5]\d\b/g, 'CLOCK'],
  // The applications since yesterday: the states store one for every five hours.
  [/\blink "\d+ new"/g, 'link "N new"'],
  // The tests number their invented applicants.
  [/\bada\.\d+@/g, 'ada.N@'],
  [/\b1\.\d+\.\d+(?:-dev)?(?:\+[0-9a-f]+)?/g, 'VERSION'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID'],
  // The text that replaces a name for blind readers.
  [/\bApplication [0-9a-f]{4}\b/g, 'Application ID'],
  [/127\.0\.0\.1(?::|%3A)\d+/g, 'HOST'],
  [/\b[A-Z2-7]{32,}\b/g, 'SECRET'],
]

/** The number of rows of a table, or items of a list, that the text has. Later ones are cut. */
const maxSimilar = 4

/**
 * The page's content for a screen reader, by Playwright's aria snapshot. Placeholders replace what differs from run to run.
 * Long tables and lists are cut.
 */
export async function screenReaderText(page: Page): Promise<string> {
  const snapshot = await page.locator('body').ariaSnapshot()
  const counts = new Map<number, number>()
  let cutDepth: number | undefined
  const lines = snapshot.split('\n').filter((line) => {
    const depth = line.search(/\S/)
    if (cutDepth !== undefined && depth > cutDepth) return false
    cutDepth = undefined
    for (const deeper of counts.keys()) if (deeper > depth) counts.delete(deeper)
    const count = /^\s*- (?:row|listitem)\b/.test(line) ? (counts.get(depth) ?? 0) + 1 : 0
    counts.set(depth, count)
    if (count > maxSimilar) cutDepth = depth
    return count <= maxSimilar
  })
  return `${placeholders.reduce((text, [pattern, placeholder]) => text.replaceAll(pattern, placeholder), lines.join('\n'))}\n`
}

const controls = 'button|checkbox|combobox|dialog|link|navigation|radio|searchbox|spinbutton|switch|textbox'

/**
 * Finds what every screen has to have for a screen reader: one main heading, a name for each control, and a live region, which must
 * exist before its text changes. A step of the sign-in has none: its notice is a new element, and is read out as such.
 *
 * @returns A sentence for each problem.
 */
export async function structureProblems(page: Page): Promise<string[]> {
  const lines = (await page.locator('body').ariaSnapshot()).split('\n')
  const unnamed = lines.filter((line) => new RegExp(`^\\s*- (?:${controls})\\b(?! ["/])`).test(line))
  // An open dialog hides the rest of the page, and with it the heading, from screen readers.
  const mainHeadings = await page.locator('h1').count()
  const liveRegions = await page.locator('[role=status], [role=alert], [aria-live], .session-step').count()
  return [
    ...(mainHeadings === 1 ? [] : [`It has ${mainHeadings} main headings.`]),
    ...unnamed.map((line) => `This has no name: ${line.trim()}`),
    ...(liveRegions > 0 ? [] : ['It has no live region.']),
  ]
}

/** The result of {@link screenReaderText}, once it has not changed for two seconds. */
export async function settledText(page: Page): Promise<string> {
  let previous = ''
  let current = await screenReaderText(page)
  while (current !== previous) {
    previous = current
    await page.waitForTimeout(2_000)
    current = await screenReaderText(page)
  }
  return current
}
