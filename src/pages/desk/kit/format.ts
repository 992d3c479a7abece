import type { Count } from '../../../client/desk/count.ts'

const moment = formatOf({ dateStyle: 'medium', timeStyle: 'short' })
const shortDay = formatOf({ day: 'numeric', month: 'short' })
const longDay = formatOf({ day: 'numeric', month: 'short', year: 'numeric' })
const timeOfDay = formatOf({ hour: '2-digit', minute: '2-digit' })
const chartDay = formatOf({ dateStyle: 'medium', timeZone: 'UTC' })
/** Maximum characters of a name or a company in lists and sentences. */
const shortLength = 120

const directionMarks = /\p{Bidi_Control}/gu
const beginning = new RegExp(`^.{0,${shortLength}}`, 'su')
const excessCombiningMarks = /(\p{M}{8})\p{M}+/gu

/**
 * A moment in the organiser's time zone: `22 Nov 2026, 10:03`. Values that browsers cannot parse, such as `infinity`, are
 * returned unchanged.
 */
export function momentOf(iso: string): string {
  return formatted(moment, iso)
}

function formatted(format: () => Intl.DateTimeFormat, iso: string) {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : format().format(date)
}

/** Returns a function that creates the format on first use: the first format of a page takes 50 ms on a slow phone. */
function formatOf(options: Intl.DateTimeFormatOptions) {
  let format: Intl.DateTimeFormat | undefined
  return () => (format ??= new Intl.DateTimeFormat('en-GB', options))
}

/** Creates the format of moments in advance, while the browser waits for a response. */
export function prepareMoments(): void {
  moment()
}

/** A short form of a moment: the time if it is today, otherwise the day, with the year if it is not this year. */
export function shortMomentOf(iso: string, now = new Date()): string {
  const date = new Date(iso)
  if (date.toDateString() === now.toDateString()) return timeOfDay().format(date)
  return formatted(date.getFullYear() === now.getFullYear() ? shortDay : longDay, iso)
}

/** The day of a moment in the organiser's time zone: `31 Dec 2026`. */
export function longDayOf(iso: string): string {
  return formatted(longDay, iso)
}

/** Today, in the format of `Date.toDateString`. */
export function today(): string {
  return new Date().toDateString()
}

/** Formats a day such as `2026-12-31` as in letters: `31 December 2026`. */
export function dayOf(day: string): string {
  return new Date(`${day}T00:00Z`).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
}

/** Formats a day as in charts: `31 Dec 2026`. */
export function chartDayOf(day: string): string {
  return chartDay().format(new Date(day))
}

/** A moment in this browser's time zone, in the format of a `datetime-local` field: `2026-12-31T18:00`. */
export function localTimeOf(time: string | number): string {
  const at = new Date(time)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The IANA name of the organiser's time zone, such as `Europe/London`. */
export function browserTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** A time zone's name with spaces: `Europe/Isle of Man`. */
export function zoneWords(zone: string): string {
  return zone.replaceAll('_', ' ')
}

/** A number with its noun: `1 letter`, `1,000 letters`. */
export function countOf(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** An integer with thousands separators. `toLocaleString` takes 1 ms on a slow phone. */
export function formatNumber(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** Progress, such as `100 of 1,000`. */
export function outOf(done: number, count: number): string {
  return `${formatNumber(done)} of ${formatNumber(count)}`
}

/** A count, with `+` if there are more. */
export function formatCount({ count, more }: Count): string {
  return `${formatNumber(count)}${more ? '+' : ''}`
}

/**
 * Shortens a name or a company for lists and sentences. Removes direction marks, which could reorder the text around them,
 * and limits combining marks. The full text is shown among the form answers.
 */
export function shortOf(text: string): string {
  const begin = text
    .slice(0, shortLength * 10)
    .replace(directionMarks, '')
    .replace(excessCombiningMarks, '$1')
  const short = begin.match(beginning)?.[0] ?? ''
  return short === begin && text.length <= shortLength * 10 ? begin : `${short.trimEnd()}…`
}
