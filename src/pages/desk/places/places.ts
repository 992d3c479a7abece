import { daysOf } from '../../../application/calendar.ts'
import type { Places, ReminderOutcome, RetreatDays } from '../../../client/desk/retreat.ts'
import { countOf, formatNumber, browserTimeZone, zoneWords } from '../kit/format.ts'

/** The number of free seats, in a sentence. */
export function freeSentence({ places, free }: Pick<Places, 'places' | 'free'>): string {
  if (places === null || free === null) return 'The number of places is not set.'
  const of = `of ${countOf(places, 'place')}`
  if (free >= 0) return `${formatNumber(free)} ${of} ${free === 1 ? 'is' : 'are'} free.`
  return `0 ${of} are free. The retreat is overbooked by ${formatNumber(-free)}.`
}

/** The settings of the seats in a few words: number, days to answer and, if given, time zone. */
export function placesWordsOf(
  settings: Pick<Places, 'places' | 'days'> & { zone?: string | undefined },
): string {
  const { places, days, zone } = settings
  const count = places === null ? 'Number of places not set' : countOf(places, 'place')
  return `${count}, ${countOf(days, 'day')} to answer${zone === undefined ? '' : `, time zone ${zoneWords(zone)}`}`
}

/** The days of the retreat and its venue in a few words. */
export function retreatWordsOf(retreat: Partial<Omit<RetreatDays, 'version'>>): string {
  const { starts_on: start, ends_on: end, venue } = retreat
  const days = start && end ? daysOf({ starts_on: start, ends_on: end }) : 'days not set'
  return `The retreat: ${days}${venue ? `, ${venue}` : ''}`
}

/** The time zones to choose from, with their words: the browser's own, then all that it knows and the given one, sorted. */
export function zonesWith(zone: string): [string, string][] {
  const others = [zone, 'UTC', ...Intl.supportedValuesOf('timeZone')].toSorted()
  return [...new Set([browserTimeZone(), ...others])].map((name) => [name, zoneWords(name)])
}

/** The result of drafting reminders, in sentences. */
export function remindedSentences(outcome: ReminderOutcome): string[] {
  const { drafted, questions: questionReminderCount, late, waiting, reminded, more } = outcome
  const counted = (count: number, singular: string, plural: string) =>
    `${formatNumber(count)} ${count === 1 ? singular : plural}`
  return [
    drafted === 0
      ? 'No reminder was drafted.'
      : `${countOf(drafted, 'reminder')} drafted. Nothing has been sent.`,
    ...(questionReminderCount === 0
      ? []
      : [`${counted(questionReminderCount, 'is', 'are')} about questions.`]),
    ...(late === 0
      ? []
      : [`${counted(late, 'is', 'are')} late: move the deadline in their application before you send it.`]),
    ...(waiting === 0
      ? []
      : [`${counted(waiting, 'already has', 'already have')} a reminder that has not been sent.`]),
    ...(reminded === 0 ? [] : [`${counted(reminded, 'was', 'were')} sent one in the last three days.`]),
    ...(more ? ['Not all reminders were drafted. Draft reminders again for the rest.'] : []),
  ]
}
