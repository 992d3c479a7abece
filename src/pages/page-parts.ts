import type { ReactNode } from 'react'

import base from '../design/base.css?inline'
import controls from '../design/controls.css?inline'
import { palettesWith } from '../design/accent.ts'
import { paletteStyle } from '../design/palette.ts'

/** What is seen of a page. Its document has these parts, and so has the preview at the desk. */
export interface PageParts {
  /** The accent colour as `#rrggbb`; undefined for the default. */
  accent: string | undefined
  /** The part that is painted first, with its style. */
  scene: ReactNode
  sceneStyle: string
  /** The part that the page's script uses, with its style. */
  content: ReactNode
  contentStyle: string
}

/** The whole styles of a page: that of its scene, and after the scene that of its content. */
export function stylesOf({
  accent,
  sceneStyle,
  contentStyle,
}: Omit<PageParts, 'scene' | 'content'>): [scene: string, content: string] {
  return [paletteStyle(palettesWith(accent)) + base + sceneStyle, controls + contentStyle]
}
