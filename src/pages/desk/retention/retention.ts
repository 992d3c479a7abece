import type { Announcement } from '../../../application/announcement.ts'
import type { RetentionMonths } from '../../../client/desk/retention.ts'
import { countOf, dayOf, formatNumber } from '../kit/format.ts'

/** The maximum number of applications that a call counts. */
const maxCounted = 10_000

/** How long applications are kept, in a few words. */
export function retentionWordsOf({ months, months_for_guests: guests }: RetentionMonths): string {
  if (months === guests)
    return `Applications are kept ${months === null ? 'until you erase them' : durationWords(months)}`
  return `Applications are kept ${durationWords(months)}, those of people who came ${durationWords(guests)}`
}

function durationWords(months: number | null) {
  return months === null ? 'until you erase them' : `for ${countOf(months, 'month')} after the retreat`
}

/** A number of applications, in words. A number above the limit says only that there are more. */
export function applicationsOf(count: number): string {
  return count > maxCounted
    ? `More than ${formatNumber(maxCounted)} applications`
    : countOf(count, 'application')
}

/** An announcement in one sentence. */
export function announcementOf({ applications, from }: Announcement): string {
  return `${applicationsOf(applications)} will be erased from ${dayOf(from)} on.`
}

/** The entered number of months; null if it is blank, which means that nothing is erased. */
export const monthsFrom = (entered: string): number | null => (entered === '' ? null : Number(entered))
