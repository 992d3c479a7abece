import type { Page } from 'playwright-core'

import { contrast } from '../../src/design/contrast.ts'

/** Finds the visible disabled controls whose words have a contrast below 3. axe leaves disabled controls out. */
export async function unreadableDisabled(page: Page): Promise<string[]> {
  const controls = await page.locator(':disabled, [aria-disabled=true]').evaluateAll((all) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    /** Paints a colour over the former ones. Returns the result as `#rrggbb`. */
    const paint = (colour: string, opacity: number) => {
      if (canvas === null) throw new Error('This browser has no canvas.')
      canvas.globalAlpha = opacity
      canvas.fillStyle = colour
      canvas.fillRect(0, 0, 1, 1)
      const channels = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
      return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
    }
    const shown = all.filter((each) => each.checkVisibility() && (each.textContent ?? '').trim() !== '')
    return shown.map((control) => {
      paint('white', 1)
      const ancestors: Element[] = []
      for (let each: Element | null = control; each; each = each.parentElement) ancestors.unshift(each)
      let opacity = 1
      let ground = ''
      for (const each of ancestors) {
        const style = getComputedStyle(each)
        opacity *= Number(style.opacity)
        ground = paint(style.backgroundColor, opacity)
      }
      return {
        words: control.textContent ?? '',
        ground,
        ink: paint(getComputedStyle(control).color, opacity),
      }
    })
  })
  return controls
    .map(({ words, ground, ink }) => ({ words, ratio: contrast(ink, ground) }))
    .filter(({ ratio }) => ratio < 3)
    .map(({ words, ratio }) => `${words}: ${ratio.toFixed(2)}`)
}
