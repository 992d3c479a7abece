import { maxLengths, type PageText } from '../../../application/page-words.ts'
import type { PageSettings, ShownFacts } from '../../../client/desk/page.ts'
import { colourIn, neededContrast, refusalOf } from '../../../design/accent.ts'
import type { Look, OperatorLook } from '../../../design/look.ts'
import { lookOf } from '../../look.ts'

/** What organisers enter: every text, and which of the facts that are kept elsewhere are shown. */
export type Entries = Pick<PageSettings, 'texts' | 'shown'>

/** The names of the texts, as labels. */
export const textNames: Record<PageText, string> = {
  title: 'Title',
  tagline: 'Tagline',
  badge: 'Badge',
  success: 'Thanks',
  privacy_url: 'Privacy link',
  privacy_label: 'Words of the privacy link',
  accent: 'Accent colour',
  cost: 'Cost',
  hear_back: 'You hear back',
  about: 'About the retreat',
}

/** The names of the facts that are kept elsewhere, as the page has them. */
export const factNames: Record<keyof ShownFacts, string> = {
  days: 'When',
  venue: 'Where',
  closing: 'Apply by',
}

/** The text that the operator's settings have in place of an organiser's; undefined if they have none. */
export function operatorTextOf(name: PageText, operator: OperatorLook): string | undefined {
  return operator[name.replace(/_(.)/, (_, first: string) => first.toUpperCase()) as keyof OperatorLook]
}

/** What is saved of what was entered. */
export function savedOf({ texts, shown }: Entries): Entries {
  const trimmed = { ...texts }
  for (const name of Object.keys(texts) as PageText[]) trimmed[name] = texts[name].trim()
  return { texts: { ...trimmed, accent: colourIn(texts.accent) ?? trimmed.accent }, shown }
}

/** Why a colour cannot be saved, and an allowed one in its place, if there is one; undefined if it can. */
export function accentProblemOf(text: string): { message: string; allowed?: string } | undefined {
  const colour = colourIn(text)
  if (colour === undefined)
    return text.trim() === '' ? undefined : { message: 'Write six hexadecimal digits, such as #7a1f3d.' }
  const refusal = refusalOf(colour)
  if (refusal === undefined) return undefined
  return {
    message: `Too light to read: its contrast with the page is ${refusal.contrast} to 1. It needs at least ${neededContrast} to 1.`,
    allowed: refusal.darker,
  }
}

/** The look of the page with what was entered. An allowed colour replaces one that cannot be saved. */
export function lookWith(entries: Entries, facts: PageSettings['facts'], operator: OperatorLook): Look {
  const { texts, shown } = savedOf(entries)
  const problem = accentProblemOf(texts.accent)
  const { starts_on, ends_on, venue, ...closing } = facts
  return lookOf(operator, {
    ...texts,
    accent: problem ? (problem.allowed ?? '') : texts.accent,
    ...(shown.days && starts_on && ends_on && { starts_on, ends_on }),
    ...(shown.venue && venue && { venue }),
    ...(shown.closing && closing),
  })
}

/** The number of characters that are left, in words, near the limit of a text; undefined far from it. */
export function charactersLeft(name: PageText, text: string): string | undefined {
  const limit = maxLengths[name]
  const left = limit - text.length
  if (left > limit / 5) return undefined
  return `${left} ${left === 1 ? 'character' : 'characters'} left.`
}
