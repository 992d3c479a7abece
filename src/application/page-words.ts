import { daysOf } from './calendar.ts'

/** The longest texts of the page, in characters. */
export const maxLengths = {
  title: 60,
  tagline: 120,
  badge: 60,
  success: 400,
  privacy_url: 2_000,
  privacy_label: 60,
  accent: 7,
  cost: 120,
  hear_back: 120,
  about: 2_000,
}

/** The name of a text that organisers may write for the applicants' page. */
export type PageText = keyof typeof maxLengths

/**
 * What organisers say on the applicants' page, as the database gives it: their texts, and the facts that the page shows. What is
 * left out is not set, or not shown.
 */
export interface PageWords extends Partial<Record<PageText, string>> {
  /** The first and the last day of the retreat, as `2026-12-31`. */
  starts_on?: string
  ends_on?: string
  venue?: string
  /** The last day on which people can apply, as `2026-12-31`. */
  closes_on?: string
  /** The time on that day, as `18:00`, with its time zone. Left out for midnight. */
  closes_at?: string
  zone?: string
}

/** The file with the words of the page, in the folder of the build. The desk of a hosted project exports it. */
export const pageFile = 'page.json'

/** One fact about the retreat: its name and its value. */
export interface Fact {
  name: string
  value: string
}

/** The facts that the page shows, in its order. */
export function factsOf(words: PageWords): Fact[] {
  const { starts_on, ends_on, venue, cost, closes_on, closes_at, zone, hear_back } = words
  const facts: [name: string, value: string | undefined][] = [
    ['When', starts_on && ends_on && daysOf({ starts_on, ends_on })],
    ['Where', venue],
    ['Cost', cost],
    ['Apply by', closes_on && closingOf(closes_on, closes_at, zone)],
    ['You hear back', hear_back],
  ]
  return facts.flatMap(([name, value]) => (value ? [{ name, value }] : []))
}

function closingOf(day: string, time: string | undefined, zone = 'UTC') {
  const words = daysOf({ starts_on: day, ends_on: day })
  return time === undefined ? words : `${words}, ${time} (${zone.replaceAll('_', ' ')})`
}

/** A part of a text: an address, which becomes a link, or other text. */
export type TextPart = string | { href: string; text: string }

/** Web addresses and email addresses. The punctuation after one does not belong to it. */
const address =
  /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}'’”]|[^\s<>()@,;:"]+@[^\s<>()@,;:"]+\.[\p{L}\p{N}-]*[\p{L}\p{N}]/gu

/** Splits a plain text at its addresses. */
export function linked(text: string): TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(address)) {
    if (index > end) parts.push(text.slice(end, index))
    parts.push({ href: found.includes('://') ? found : `mailto:${found}`, text: found })
    end = index + found.length
  }
  return end < text.length ? [...parts, text.slice(end)] : parts
}

/** The paragraphs of a text, between blank lines. */
export function paragraphsOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
}
