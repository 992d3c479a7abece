import type { Announcement } from '../../../application/announcement.ts'
import type { RetentionMonths } from '../../../client/desk/retention.ts'
import { countOf, dayOf, formatNumber } from '../kit/format.ts'

/** The number of applications that calls count at most. */
const counted = 10_000

/** How long applications are kept, in a few words. */
export function retentionWordsOf({ months, months_for_guests: guests }: RetentionMonths): string {
  if (months === guests)
    return `Applications are kept ${months === null ? 'until you erase them' : forOf(months)}`
  return `Applications are kept ${forOf(months)}, those of people who came ${forOf(guests)}`
}

function forOf(months: number | null) {
  return months === null ? 'until you erase them' : `for ${countOf(months, 'month')} after the retreat`
}

/** A number of applications, which may be more than were counted. */
export function applicationsOf(count: number): string {
  return count > counted ? `More than ${formatNumber(counted)} applications` : countOf(count, 'application')
}

/** An announcement in one sentence. */
export function announcementOf({ applications, from }: Announcement): string {
  return `${applicationsOf(applications)} will be erased from ${dayOf(from)} on.`
}

/** Months as they are entered, blank for never. */
export const monthsFrom = (entered: string): number | null => (entered === '' ? null : Number(entered))
