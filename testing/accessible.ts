import type { Page } from 'playwright-core'
import { expect } from 'vitest'

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
