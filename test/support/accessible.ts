import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { unreadableDisabled } from './disabled-contrast.ts'
import { extent } from './quick-or-long.ts'
import { overflow } from './overflow.ts'
import { smallTargets } from './small-targets.ts'
import { accessibilityProblems } from './browser-test.ts'
import { resize } from './resize.ts'

/** The window widths at which axe runs, in CSS pixels. */
const axeWidths = extent({ quick: [320], long: [1440, 390, 320] })

/**
 * Selects the elements that may overflow: drawings, visually hidden parts, and parts of the desk that scroll sideways (tabs, and
 * the bar in low windows).
 */
const allowedToOverflow = 'svg, .visually-hidden, thead, .skip, .list-tabs, .announce-words, .decisions-bar'

/**
 * Expects that nothing overflows in any window, that all targets on a phone are large enough, and that axe finds no problem. In
 * dark and forced colours axe checks only the colours, because nothing else differs there.
 *
 * @param name The state of the page. The application form in dark colours needs contrasts of level AAA.
 */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  for (const [width, height] of [
    [1440, 800],
    [390, 844],
    // A window of 1280 x 1024 at 400 % zoom.
    [320, 256],
  ] as const) {
    await resize(page, { width, height })
    expect(await overflow(page, allowedToOverflow), `${name}, ${width} px`).toEqual({ scroll: 0, wide: [] })
    if (width === 390) expect(await smallTargets(page), `${name}, 390 px`).toEqual([])
  }
  const colours = name.startsWith('form-') ? 'colours, AAA' : 'colours'
  for (const width of axeWidths) {
    await resize(page, { width, height: 800 })
    for (const [rules, media] of [
      ['all', { colorScheme: 'light', forcedColors: 'none' }],
      [colours, { colorScheme: 'dark', forcedColors: 'none' }],
      [colours, { colorScheme: 'dark', forcedColors: 'active' }],
    ] as const) {
      await page.emulateMedia(media)
      const problems = await accessibilityProblems(page, rules)
      expect(problems, `${name}, ${width} px, ${JSON.stringify(media)}`).toEqual([])
      // Forced colours are the system's own.
      if (media.forcedColors === 'none')
        await expect
          .poll(() => unreadableDisabled(page), { message: `${name}, ${media.colorScheme}` })
          .toEqual([])
    }
  }
}
