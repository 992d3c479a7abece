import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { darken, lowestContrast, neededContrast, palettesWith } from './accent.ts'
import { contrast } from './contrast.ts'
import { dark, light } from './palette.ts'

const anyColour = fc
  .integer({ min: 0, max: 0xff_ff_ff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`)

test('contrast is computed as WCAG defines it', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21)
  expect(contrast('#ffffff', '#000000')).toBe(21)
  expect(contrast('#777777', '#777777')).toBe(1)
  // The lightest grey that WCAG allows for text on white, and the next lighter grey.
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  expect(contrast('#0000ff', '#ffffff')).toBeCloseTo(8.59, 2)
  expect(contrast('#ff0000', '#00ff00')).toBeCloseTo(2.91, 2)
  // In the linear part of the curve.
  expect(contrast('#0a0a0a', '#000000')).toBeCloseTo(1.06, 2)
})

test('without an accent the palettes are ours, and their accent has enough contrast', () => {
  expect(palettesWith(undefined)).toEqual({ light, dark })
  expect(lowestContrast(light.ember)).toBeGreaterThanOrEqual(neededContrast)
  expect(lowestContrast(dark.ember, dark)).toBeGreaterThanOrEqual(neededContrast)
})

test.each([
  // Each row has an accent, and the colours of a button and of one under the pointer, in light mode and in dark mode. Those of dark
  // mode also have the colour of its words. Black, the last accent, becomes lighter under the pointer.
  ['#7a0019', ['#7a0019', '#47000f'], ['#ff94aa', '#ffc7d2', '#2e0009']],
  ['#1f5f3a', ['#1f5f3a', '#123923'], ['#57c886', '#7dd5a2', '#0b2315']],
  ['#2a2aff', ['#2a2aff', '#0000f6'], ['#acacff', '#dfdfff', '#00002e']],
  ['#555555', ['#555555', '#3b3b3b'], ['#b3b3b3', '#cccccc', '#171717']],
  ['#000000', ['#000000', '#333333'], ['#b3b3b3', '#cccccc', '#171717']],
])('the accent %s is used as given in light mode, and is lighter in dark mode', (accent, day, night) => {
  const palettes = palettesWith(accent)
  expect([palettes.light.ember, palettes.light['ember-hover']]).toEqual(day)
  expect([palettes.dark.ember, palettes.dark['ember-hover'], palettes.dark['on-ember']]).toEqual(night)
  const { ember: _, 'ember-hover': _hover, 'on-ember': _on, ...rest } = palettes.dark
  expect(dark).toMatchObject(rest)
  expect({ ...palettes.light, ember: light.ember, 'ember-hover': light['ember-hover'] }).toEqual(light)
})

test('an accent that is readable in light mode is readable everywhere, also under the pointer', () => {
  fc.assert(
    fc.property(anyColour, (colour) => {
      const accent = darken(colour)
      expect(lowestContrast(accent)).toBeGreaterThanOrEqual(neededContrast)
      const palettes = palettesWith(accent)
      for (const palette of [palettes.light, palettes.dark]) {
        for (const ground of ['paper', 'hover', 'sky'] as const)
          expect(contrast(palette.ember, palette[ground])).toBeGreaterThanOrEqual(neededContrast)
        for (const button of ['ember', 'ember-hover'] as const)
          expect(contrast(palette['on-ember'], palette[button])).toBeGreaterThanOrEqual(neededContrast)
        expect(contrast(palette.ember, palette['ember-hover'])).toBeGreaterThan(1.1)
      }
    }),
    { numRuns: 500 },
  )
})

test('a colour that is too light becomes the nearest dark enough one, and a dark enough colour stays', () => {
  expect(darken('#7a0019')).toBe('#7a0019')
  expect(lowestContrast('#ffee99')).toBeLessThan(1.1)
  expect(darken('#ffee99')).toBe('#7a6600')
  expect(darken('#ffffff')).toBe('#676767')
})
