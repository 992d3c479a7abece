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
