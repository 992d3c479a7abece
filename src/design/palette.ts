/** The colours of light mode, named by their use. docs/design.md lists their contrasts. */
export const light = {
  sky: '#f3e6cd',
  glow: '#f8dcb4',
  sun: '#e58e4f',
  birds: '#6f7d70',
  stars: 'transparent',
  far: '#c3caa9',
  middle: '#8da384',
  pines: '#55735e',
  near: '#3c5a4a',
  ink: '#1e2f27',
  'ink-quiet': '#4c5d52',
  paper: '#fffcf4',
  rim: 'transparent',
  line: '#7b8a7d',
  filled: '#4f7059',
  hover: '#f3eddc',
  ember: '#a8451f',
  'ember-hover': '#8c3716',
  'on-ember': '#fffaf0',
  focus: '#1f5f8b',
  success: '#e2efdb',
  'success-ink': '#1d4a2a',
  error: '#fae3dc',
  'error-ink': '#8a1f11',
  invalid: '#c0321c',
}

/** The colours of one colour scheme, named by their use. */
export type Palette = typeof light

/** The colours of dark mode. */
export const dark: Palette = {
  sky: '#0f1823',
  glow: '#142030',
  sun: '#e9e3c9',
  birds: 'transparent',
  stars: '#b9c4cf',
  far: '#22384a',
  middle: '#192b34',
  pines: '#122126',
  near: '#0a1516',
  ink: '#ece7d8',
  'ink-quiet': '#bcc4b8',
  paper: '#2a3d35',
  rim: '#4b6257',
  line: '#94a69b',
  filled: '#a9c2b1',
  hover: '#354a41',
  ember: '#f0ab76',
  'ember-hover': '#f8c59b',
  'on-ember': '#2a1407',
  focus: '#93cbf2',
  success: '#16311f',
  'success-ink': '#cfeed2',
  error: '#46211a',
  'error-ink': '#ffd2c5',
  invalid: '#ff8f78',
}

/** Palettes as CSS custom properties, for light and dark mode. Browsers draw their own controls accordingly. */
export function paletteStyle(palettes: { light: Palette; dark: Palette }): string {
  const { light: day, dark: night } = palettes
  return `:root{color-scheme:light dark}${rule(day)}@media(prefers-color-scheme:dark){${rule(night)}}`
}

function rule(palette: Palette) {
  const properties = Object.entries(palette).map(([name, value]) => `--${name}:${value};`)
  return `:root{${properties.join('')}}`
}
