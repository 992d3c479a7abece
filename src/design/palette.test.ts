import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { contrast } from './contrast.ts'
import { dark, light, type Palette } from './palette.ts'

type Colour = keyof Palette

/**
 * Pairs of foreground and background. WCAG 2.2 requires a contrast of 4.5 for text (1.4.3) and 3 for the edges of controls
 * (1.4.11). It requires none for disabled controls, but people have to read what they cannot do: 3.
 */
const pairs: [what: string, foreground: Colour, background: Colour, needed: number][] = [
  ['title, tagline and badge, at the top of the sky', 'ink', 'sky', 4.5],
  ['title, tagline and badge, at the horizon', 'ink', 'glow', 4.5],
  ['labels and answers', 'ink', 'paper', 4.5],
  ['answers, pointed at', 'ink', 'hover', 4.5],
  ['placeholder', 'ink-quiet', 'paper', 4.5],
  ['placeholder, pointed at', 'ink-quiet', 'hover', 4.5],
  ['asterisk', 'ember', 'paper', 4.5],
  ['asterisk, pointed at', 'ember', 'hover', 4.5],
  ['button', 'on-ember', 'ember', 4.5],
  ['button, pointed at', 'on-ember', 'ember-hover', 4.5],
  ['disabled button', 'ink-quiet', 'hover', 3],
  ['disabled button beside others', 'ink-quiet', 'paper', 3],
  ['disabled button in the head of the desk', 'ink-quiet', 'sky', 3],
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

test.for(pairs)(
  '%s (%s on %s) has enough contrast, light and dark, as docs/design.md says',
  async ([what, foreground, background, needed]) => {
    const [day, night] = [light, dark].map((palette) => contrast(palette[foreground], palette[background]))
    expect(day).toBeGreaterThanOrEqual(needed)
    expect(night).toBeGreaterThanOrEqual(needed)
    const row = [what, `\`${foreground}\` on \`${background}\``, day?.toFixed(1), night?.toFixed(1), needed]
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
