import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { dark, light, type Palette } from './palette.ts'

type Colour = keyof Palette

/**
 * Pairs of foreground and background. WCAG 2.2 requires a contrast of 4.5 for text (1.4.3) and 3 for the edges of controls
 * (1.4.11).
 */
const pairs: [text: string, on: Colour, under: Colour, needed: number][] = [
  ['title, tagline and badge, above', 'ink', 'sky', 4.5],
  ['title, tagline and badge, below', 'ink', 'glow', 4.5],
  ['labels and answers', 'ink', 'paper', 4.5],
  ['answers, pointed at', 'ink', 'hover', 4.5],
  ['placeholder', 'ink-quiet', 'paper', 4.5],
  ['placeholder, pointed at', 'ink-quiet', 'hover', 4.5],
  ['asterisk', 'ember', 'paper', 4.5],
  ['asterisk, pointed at', 'ember', 'hover', 4.5],
  ['button', 'on-ember', 'ember', 4.5],
  ['button, pointed at', 'on-ember', 'ember-hover', 4.5],
  ['green box', 'success-ink', 'success', 4.5],
  ['red box', 'error-ink', 'error', 4.5],
  ['what is wrong in a field', 'error-ink', 'paper', 4.5],
  ["a field's edge", 'line', 'paper', 3],
  ["a field's edge, pointed at", 'line', 'hover', 3],
  ["a filled field's edge", 'filled', 'paper', 3],
  ["an invalid field's edge", 'invalid', 'paper', 3],
  ['focus', 'focus', 'paper', 3],
  ['focus, pointed at', 'focus', 'hover', 3],
]

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: string, other: string) {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(colour: string) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = Number.parseInt(colour.slice(start, start + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

test.for(pairs)(
  '%s (%s on %s) has enough contrast, light and dark, as docs/design.md says',
  async ([what, on, under, needed]) => {
    const [day, night] = [light, dark].map((palette) => contrast(palette[on], palette[under]))
    expect(day).toBeGreaterThanOrEqual(needed)
    expect(night).toBeGreaterThanOrEqual(needed)
    const row = [what, `\`${on}\` on \`${under}\``, day?.toFixed(1), night?.toFixed(1), needed]
    const lines = (await readFile('docs/design.md', 'utf8'))
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' '))
    expect(lines).toContain(`| ${row.join(' | ')} |`)
  },
)

test('in dark mode the card differs from its background, at least by its edge', () => {
  for (const ground of ['sky', 'near'] as const) {
    expect(contrast(dark.paper, dark[ground])).toBeGreaterThan(1.5)
  }
  for (const ground of ['sky', 'glow', 'near'] as const) {
    expect(contrast(dark.rim, dark[ground])).toBeGreaterThan(2)
  }
})
