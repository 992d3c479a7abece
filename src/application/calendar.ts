/** The retreat as a calendar knows it. */
export interface Retreat {
  /** Identifies the event in every calendar. It stays the same when the days or the venue change. */
  uid: string
  /** The number of changes. A calendar replaces its event by one with the same `uid` and a higher number. */
  sequence: number
  /** The edition's name; blank if it has none. The event then has the page's title. */
  name: string
  /** The first and the last day, as `2026-12-31`. */
  starts_on: string
  ends_on: string
  /** Where the retreat is; blank if organisers have not entered it. */
  venue: string
}

/** The name of the calendar file. */
export const calendarFileName = 'retreat.ics'

/** The most octets of a line, without its end. */
const maxOctets = 75

/** In milliseconds. */
const dayLength = 86_400_000

/** The days in words: `12–15 March 2027`, the same in every time zone. */
export function daysOf({ starts_on: start, ends_on: end }: Pick<Retreat, 'starts_on' | 'ends_on'>): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  // Versions of the Unicode data differ in the spaces between two days of a month.
  return format.formatRange(new Date(start), new Date(end)).replace(/^(\d+)\s–\s/, '$1–')
}

/**
 * The retreat as a file for a calendar: one event of whole days, which have no time zone. Nobody has to answer it, so it has
 * no `ORGANIZER`.
 *
 * @param title The page's title, which names the event of an edition without a name.
 * @param now When the file is made.
 * @see RFC 5545, and RFC 5546 for the method.
 */
export function calendarFileOf(
  { uid, sequence, name, venue, ...days }: Retreat,
  title: string,
  now: Date,
): string {
  const dayAfter = new Date(Date.parse(days.ends_on) + dayLength)
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Unplugged//Retreat//EN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${digitsOf(now).slice(0, 15)}Z`,
    `DTSTART;VALUE=DATE:${digitsOf(new Date(days.starts_on)).slice(0, 8)}`,
    `DTEND;VALUE=DATE:${digitsOf(dayAfter).slice(0, 8)}`,
    `SUMMARY:${escaped(name || title)}`,
    ...(venue ? [`LOCATION:${escaped(venue)}`] : []),
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]
  return lines.map(folded).join('\r\n')
}

/** A moment in UTC as `20261231T120000000Z`. */
function digitsOf(moment: Date) {
  return moment.toISOString().replace(/[-:.]/g, '')
}

/** A text as the value of a property, on one line. */
function escaped(text: string) {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').replace(/[\\;,]/g, '\\$&')
}

/** Splits a long line between characters. */
function folded(line: string) {
  let octets = 0
  return Array.from(line, (character) => {
    const { length } = new TextEncoder().encode(character)
    octets += length
    if (octets <= maxOctets) return character
    octets = 1 + length
    return `\r\n ${character}`
  }).join('')
}
