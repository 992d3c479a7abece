import type { Count } from '../../../client/desk/count.ts'

const moment = formatOf({ dateStyle: 'medium', timeStyle: 'short' })
const shortDay = formatOf({ day: 'numeric', month: 'short' })
const longDay = formatOf({ day: 'numeric', month: 'short', year: 'numeric' })
const hour = formatOf({ hour: '2-digit', minute: '2-digit' })
const dayOfPlot = formatOf({ dateStyle: 'medium', timeZone: 'UTC' })
/** Characters of a name or a company where it is told among other things. */
const shortLength = 120

const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const beginning = new RegExp(`^.{0,${shortLength}}`, 'su')
const marksWithoutEnd = /(\p{M}{8})\p{M}+/gu

/**
 * A moment as organisers read it, in their own time zone: `22 Nov 2026, 10:03`. The database knows some that browsers
 * do not, such as `infinity`: they stay as they are.
 */
export function momentOf(iso: string): string {
  return told(moment, iso)
}

function told(format: () => Intl.DateTimeFormat, iso: string) {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : format().format(date)
}

/** Made on first use: the first one of a page takes a slow phone 50 ms. */
function formatOf(options: Intl.DateTimeFormatOptions) {
  let made: Intl.DateTimeFormat | undefined
  return () => (made ??= new Intl.DateTimeFormat('en-GB', options))
}

/** Makes the formatter of moments in advance, when there is time for it. */
export function prepareMoments(): void {
  moment()
}

/** The same as short as it can be told: the hour of a moment of today, otherwise its day. */
export function shortMomentOf(iso: string, now = new Date()): string {
  const date = new Date(iso)
  if (date.toDateString() === now.toDateString()) return hour().format(date)
  return told(date.getFullYear() === now.getFullYear() ? shortDay : longDay, iso)
}

/** Today, as `Date.toDateString` has it. */
export function today(): string {
  return new Date().toDateString()
}

/** A day, such as 2026-12-31, as letters have it: 31 December 2026. */
export function dayOf(day: string): string {
  return new Date(`${day}T00:00Z`).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
}

/** The same as plots have it: 31 Dec 2026. */
export function shortDayOf(day: string): string {
  return dayOfPlot().format(new Date(day))
}

/** A moment in this browser's time zone, as a field for a date and a time has it: 2026-12-31T18:00. */
export function localTimeOf(time: string | number): string {
  const at = new Date(time)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The name of the organiser's time zone, as the database knows it. */
export function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** So many of something. */
export function countOf(count: number, what: string): string {
  return `${digits(count)} ${what}${count === 1 ? '' : 's'}`
}

/** A number as organisers read it. */
export function digits(count: number): string {
  return count.toLocaleString('en')
}

/** How far something has come: `100 of 1,000`. */
export function ofAll(done: number, count: number): string {
  return `${digits(done)} of ${digits(count)}`
}

/** A number that may not have been counted to its end. */
export function upTo({ count, more }: Count): string {
  return `${digits(count)}${more ? '+' : ''}`
}

/**
 * A name or a company as it is told among other things: not without end, and without the characters that turn the
 * direction of what stands beside it. The whole is among the answers.
 */
export function shortOf(text: string): string {
  const begin = text
    .slice(0, shortLength * 10)
    .replace(directions, '')
    .replace(marksWithoutEnd, '$1')
  const short = begin.match(beginning)?.[0] ?? ''
  return short === begin && text.length <= shortLength * 10 ? begin : `${short.trimEnd()}…`
}

/** An applicant's name; where it is hidden, the word for their application. */
export function nameOf({ first_name, last_name }: { first_name?: string; last_name?: string }): string {
  return first_name === undefined ? 'Application' : shortOf(`${first_name} ${last_name ?? ''}`.trim())
}
