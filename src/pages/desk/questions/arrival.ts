const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const month = `(${months.join('|')})[a-z]*\\.?`

const weekdayIn = new RegExp(`\\b(${weekdays.join('|')})`, 'i')
const isoDateIn = /\b\d{4}-(\d\d)-(\d\d)\b/
const dateIn = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th|\\.)?\\s*(?:of\\s+)?${month}`, 'i')
const americanDateIn = new RegExp(`\\b${month}\\s+(\\d{1,2})(?![\\d:])`, 'i')
const timeIn = /\b(\d{1,2})(?:[:.h](\d\d)\s*(am|pm)?|\s*(am|pm))\b/i
const partsOfDay: [RegExp, number][] = [
  [/\bmorning\b/i, 9],
  [/\b(noon|midday|lunch)/i, 12],
  [/\bafternoon\b/i, 15],
  [/\b(evening|dinner)\b/i, 19],
  [/\bnight\b/i, 22],
]

const minutesOfDay = 24 * 60

/**
 * The moment that a guest's own words name, such as “Thursday, 14:30” or “13 March in the evening”.
 *
 * @param start The first day of the retreat, as `2026-12-31`. A day is the one nearest to it.
 * @returns Minutes from the beginning of the first day, to compare with others; undefined if the words name neither day nor time.
 */
export function arrivalIn(text: string, start = '2024-01-01'): number | undefined {
  const day = dayIn(text, new Date(start))
  const minutes = minutesIn(text)
  if (day === undefined && minutes === undefined) return undefined
  // Without a time, a guest comes after those who named one.
  return (day ?? 0) * minutesOfDay + (minutes ?? minutesOfDay - 1)
}

/** The number of days from `start` to the day that a text names. */
function dayIn(text: string, start: Date) {
  const [, isoMonth, isoDay] = isoDateIn.exec(text) ?? []
  if (isoDay !== undefined) return daysBetween(start, Number(isoMonth) - 1, Number(isoDay))
  const [, day, monthName = ''] = dateIn.exec(text) ?? []
  if (day !== undefined) return daysBetween(start, monthOf(monthName), Number(day))
  const [, otherMonth = '', otherDay] = americanDateIn.exec(text) ?? []
  if (otherDay !== undefined) return daysBetween(start, monthOf(otherMonth), Number(otherDay))
  const [, weekday] = weekdayIn.exec(text) ?? []
  if (weekday === undefined) return undefined
  return nearest(weekdays.indexOf(weekday.toLowerCase()) - start.getUTCDay(), 7)
}

const monthOf = (name: string) => months.indexOf(name.toLowerCase())

function daysBetween(start: Date, monthIndex: number, day: number) {
  const date = Date.UTC(start.getUTCFullYear(), monthIndex, day)
  return nearest(Math.round((date - start.getTime()) / (minutesOfDay * 60_000)), 365)
}

/** The number nearest to zero that differs from `days` by whole periods. */
const nearest = (days: number, period: number) => days - period * Math.round(days / period)

function minutesIn(text: string) {
  const [, hours, minutes = '0', half = '', otherHalf = half] = timeIn.exec(text) ?? []
  if (hours === undefined) {
    const part = partsOfDay.find(([words]) => words.test(text))
    return part && part[1] * 60
  }
  const isAfternoon = otherHalf.toLowerCase() === 'pm'
  return ((Number(hours) % (otherHalf === '' ? 24 : 12)) + (isAfternoon ? 12 : 0)) * 60 + Number(minutes)
}
