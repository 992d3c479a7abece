import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { extent } from './extent.ts'
import { overflow } from './overflow.ts'
import { smallTargets } from './targets.ts'
import { accessibilityProblems } from './visitor.ts'

/**
 * Expects that axe finds nothing on the page as it is now: light, dark and in forced colours, between which nothing but
 * colours changes.
 *
 * @param where What is shown, in words.
 * @param widths Of its window, in CSS pixels.
 * @param colours As AA asks for, or AAA.
 */
export async function expectAccessible(
  page: Page,
  where: string,
  widths: readonly number[],
  colours: 'colours' | 'colours, AAA' = 'colours',
): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    for (const [rules, media] of [
      ['all', { colorScheme: 'light', forcedColors: 'none' }],
      [colours, { colorScheme: 'dark', forcedColors: 'none' }],
      [colours, { colorScheme: 'dark', forcedColors: 'active' }],
    ] as const) {
      await page.emulateMedia(media)
      const problems = await accessibilityProblems(page, rules)
      expect(problems, `${where}, ${width} px, ${JSON.stringify(media)}`).toEqual([])
    }
  }
}

/** What may stick out at the desk: the tabs and, where it is low, the bar go sideways by themselves. */
const aside = 'svg, .visually-hidden, thead, .skip, .tabs, .said, .bar'

/** Expects of a screen of the desk that nothing sticks out of any window, that no finger misses, and the same of axe. */
export async function expectUsable(page: Page, where: string): Promise<void> {
  for (const [width, height] of [
    [1440, 800],
    [390, 844],
    // A window of 1280 x 1024 at 400 %.
    [320, 256],
  ] as const) {
    await page.setViewportSize({ width, height })
    expect(await overflow(page, aside), `${where}, ${width} px`).toEqual({ scroll: 0, wide: [] })
    if (width === 390) expect(await smallTargets(page), `${where}, 390 px`).toEqual([])
  }
  await expectAccessible(page, where, extent([320], [1440, 390, 320]))
}
