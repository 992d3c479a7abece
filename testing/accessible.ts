import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { extent } from './extent.ts'
import { overflow } from './overflow.ts'
import { smallTargets } from './targets.ts'
import { accessibilityProblems } from './visitor.ts'

/** The widths of windows in which axe looks, in CSS pixels. */
const looked = extent([320], [1440, 390, 320])

/** What may stick out: what is drawn, and the desk's tabs and, where it is low, its bar, which go sideways by themselves. */
const aside = 'svg, .visually-hidden, thead, .skip, .list-tabs, .announce-words, .decisions-bar'

/**
 * Expects of a page as it is now that nothing sticks out of any window, that no finger misses, and that axe finds nothing:
 * light, dark and in forced colours, between which nothing but colours changes.
 *
 * @param name What is shown. By night the applicants' form has the contrasts of AAA.
 */
export async function expectUsable(page: Page, name: string): Promise<void> {
  for (const [width, height] of [
    [1440, 800],
    [390, 844],
    // A window of 1280 x 1024 at 400 %.
    [320, 256],
  ] as const) {
    await page.setViewportSize({ width, height })
    expect(await overflow(page, aside), `${name}, ${width} px`).toEqual({ scroll: 0, wide: [] })
    if (width === 390) expect(await smallTargets(page), `${name}, 390 px`).toEqual([])
  }
  const colours = name.startsWith('form-') ? 'colours, AAA' : 'colours'
  for (const width of looked) {
    await page.setViewportSize({ width, height: 800 })
    for (const [rules, media] of [
      ['all', { colorScheme: 'light', forcedColors: 'none' }],
      [colours, { colorScheme: 'dark', forcedColors: 'none' }],
      [colours, { colorScheme: 'dark', forcedColors: 'active' }],
    ] as const) {
      await page.emulateMedia(media)
      const problems = await accessibilityProblems(page, rules)
      expect(problems, `${name}, ${width} px, ${JSON.stringify(media)}`).toEqual([])
    }
  }
}
