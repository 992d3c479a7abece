import { channelsOf, contrast } from './contrast.ts'
import { dark, light, type Palette } from './palette.ts'

/** The contrast that WCAG 2.2 requires of text (1.4.3). */
export const neededContrast = 4.5
/** The backgrounds of text in the accent colour. */
const grounds = ['paper', 'hover', 'sky'] as const

/** Half a per cent of lightness: no eye sees a smaller step. */
const step = 0.005
/** The difference in lightness between a button and the same button under the pointer, and the least contrast of the two. */
const hoverStep = 0.1
const hoverContrast = 1.15
/** The share of white that is mixed into a button under the pointer, if the button is too dark to become visibly darker. */
const hoverWhite = 0.2
/** The lightness of words on a light button: almost black, with the button's hue. */
const inkLightness = 0.09

/** The palettes of the light and the dark scheme. */
export interface Palettes {
  light: Palette
  dark: Palette
}

/**
 * The palettes with another accent colour. Light mode uses the accent as given. Dark mode lightens it until text in it has enough
 * contrast.
 *
 * @param accent `#rrggbb`, with `neededContrast` in light mode; undefined for the default.
 */
export function palettesWith(accent: string | undefined): Palettes {
  if (accent === undefined) return { light, dark }
  const { hue, saturation, lightness } = hslOf(accent)
  const variant = (changed: number) => colourOf(hue, saturation, Math.min(1, Math.max(0, changed)))
  const darker = variant(lightness - hoverStep)
  const darkModeAccent = readable(accent, dark, step)
  return {
    light: {
      ...light,
      ember: accent,
      'ember-hover': contrast(accent, darker) < hoverContrast ? whitened(accent) : darker,
    },
    dark: {
      ...dark,
      ember: darkModeAccent,
      'ember-hover': variant(hslOf(darkModeAccent).lightness + hoverStep),
      'on-ember': variant(inkLightness),
    },
  }
}

/** Reads a colour as people write it, such as ` 7A1F3D`, as `#rrggbb`; undefined if it is none. */
export function colourIn(text: string): string | undefined {
  const [, digits] = /^\s*#?([\da-f]{6})\s*$/i.exec(text) ?? []
  return digits && `#${digits.toLowerCase()}`
}

/**
 * Why a colour cannot be the accent: its contrast with the page, such as `3.1`, and the nearest darker colour that can. Undefined
 * if it can.
 */
export function refusalOf(accent: string): { contrast: string; darker: string } | undefined {
  const ratio = lowestContrast(accent)
  if (ratio >= neededContrast) return undefined
  // Rounded down: a contrast of 4.49 must not be shown as 4.5, which would be enough.
  return { contrast: (Math.floor(ratio * 10) / 10).toFixed(1), darker: darken(accent) }
}

/** The colour that a text has, if it can be the accent. */
export function allowedAccent(text: string): string | undefined {
  const colour = colourIn(text)
  return colour !== undefined && refusalOf(colour) === undefined ? colour : undefined
}

/** The lowest contrast of text in this colour. */
export function lowestContrast(colour: string, palette: Palette = light): number {
  return Math.min(...grounds.map((ground) => contrast(colour, palette[ground])))
}

/** The nearest darker colour of the same hue that has enough contrast in light mode. */
export function darken(colour: string): string {
  return readable(colour, light, -step)
}

/** Changes the lightness in steps until the colour has enough contrast in the palette. */
function readable(colour: string, palette: Palette, change: number) {
  const { hue, saturation, lightness } = hslOf(colour)
  let found = colour
  for (let next = lightness; lowestContrast(found, palette) < neededContrast; next += change)
    found = colourOf(hue, saturation, next)
  return found
}

/** Hue in degrees, saturation and lightness from 0 to 1, as in CSS. */
function hslOf(colour: string) {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour)
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)]
  const [range, sum] = [most - least, most + least]
  const lightness = sum / 2
  if (range === 0) return { hue: 0, saturation: 0, lightness }
  const saturation = range / (1 - Math.abs(sum - 1))
  const sector =
    most === red
      ? (green - blue) / range
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4
  return { hue: sector * 60, saturation, lightness }
}

/** @see https://www.w3.org/TR/css-color-4/#hsl-to-rgb */
function colourOf(hue: number, saturation: number, lightness: number) {
  const amplitude = saturation * Math.min(lightness, 1 - lightness)
  const channels = [0, 8, 4].map((offset) => {
    const position = (((offset + hue / 30) % 12) + 12) % 12
    return lightness - amplitude * Math.max(-1, Math.min(position - 3, 9 - position, 1))
  })
  return hexOf(channels)
}

function whitened(colour: string) {
  return hexOf(channelsOf(colour).map((channel) => channel + hoverWhite * (1 - channel)))
}

/** Converts channels from 0 to 1 into `#rrggbb`. */
function hexOf(channels: number[]) {
  const bytes = channels.map((channel) => Math.round(channel * 255))
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
