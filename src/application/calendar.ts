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

/**
 * The days in words, as `private.days_in_words` writes them: `12–15 March 2027`, the same in every time zone. Versions of the
 * Unicode data differ in the spaces between two days of a month.
 */
export function daysOf({ starts_on: start, ends_on: end }: Pick<Retreat, 'starts_on' | 'ends_on'>): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  return format.formatRange(new Date(start), new Date(end)).replace(/^(\d+)\s–\s/, '$1–')
}

/** The day after the last one, as `2026-12-31`: calendars do not count the end of an event of whole days. */
function dayAfter({ ends_on: end }: Retreat) {
  return new Date(Date.parse(end) + dayLength).toISOString().slice(0, 10)
}

/**
 * The retreat as a file for a calendar: one event of whole days, which have no time zone. Nobody has to answer it, so it has
 * no `ORGANIZER`. It links to the site, and never to a guest's own page: a calendar may be shared, and the token is a secret.
 *
 * @param title The page's title, which names the event of an edition without a name.
 * @param site The address of the site.
 * @param now When the file is made.
 * @see RFC 5545, and RFC 5546 for the method.
 */
export function calendarFileOf(retreat: Retreat, title: string, site: string, now: Date): string {
  const { uid, sequence, name, venue, starts_on: start } = retreat
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Unplugged//Retreat//EN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${basic(now.toISOString()).slice(0, 15)}Z`,
    `DTSTART;VALUE=DATE:${basic(start)}`,
    `DTEND;VALUE=DATE:${basic(dayAfter(retreat))}`,
    `SUMMARY:${escaped(name || title)}`,
    ...(venue ? [`LOCATION:${escaped(venue)}`] : []),
    `DESCRIPTION:To change your answer\\, open the link in the letter. ${escaped(site)}`,
    `URL:${site}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]
  return lines.map(folded).join('\r\n')
}

/**
 * The addresses at which Google and Outlook add the retreat to the calendar of their visitor. They carry the event's title, days
 * and venue, and nothing else. Neither company documents its address.
 *
 * @param title The page's title, which names the event of an edition without a name.
 * @see https://github.com/InteractionDesignFoundation/add-event-to-calendar-docs
 */
export function webCalendarsOf(retreat: Retreat, title: string): { google: string; outlook: string } {
  const { starts_on: start } = retreat
  const end = dayAfter(retreat)
  // Outlook would show the `+` of `URLSearchParams` for a space.
  const [name, venue] = [retreat.name || title, retreat.venue].map(encodeURIComponent)
  return {
    google: `https://calendar.google.com/calendar/render?action=TEMPLATE&text=${name}&dates=${basic(start)}/${basic(end)}&location=${venue}`,
    outlook: `https://outlook.live.com/calendar/0/deeplink/compose?path=/calendar/action/compose&rru=addevent&allday=true&subject=${name}&startdt=${start}&enddt=${end}&location=${venue}`,
  }
}

/** A day or a moment in the basic format of ISO 8601, such as `20261231`. */
function basic(extended: string) {
  return extended.replace(/[-:.]/g, '')
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
