import type { Rsvp, Status } from '../src/application/statuses.ts'
import type { Question } from '../src/application/questions.ts'
import { applicationCount, people } from './people.ts'

/** The domain whose mailboxes no longer exist. */
export const closedDomain = 'closed.example'

export const weeks = 6
export const minute = 60_000
export const day = 24 * 60 * minute

/** The number of applications that get each status. The other applications stay new, among them the newest. */
const statusCounts: Record<Exclude<Status, 'new' | 'aside'>, number> = {
  accepted: 36,
  waitlisted: 24,
  declined: 62,
  shortlisted: 27,
}
const newestCount = 20

/**
 * The organisers' reviews: days before today, hour, number of the organiser (`by`). In some they decide about the shortlisted
 * applications, or send reminders.
 */
export const reviews: { days: number; hour: number; by: number; decides?: true; reminds?: true }[] = [
  { days: 39, hour: 9.5, by: 0 },
  { days: 36, hour: 20, by: 1 },
  { days: 33, hour: 11, by: 2 },
  { days: 30, hour: 21.5, by: 0 },
  { days: 27, hour: 14, by: 1 },
  { days: 24, hour: 10, by: 0, decides: true },
  { days: 21, hour: 19, by: 2 },
  { days: 17, hour: 16.5, by: 0, decides: true },
  { days: 14, hour: 8.5, by: 1 },
  { days: 9, hour: 20.5, by: 2, decides: true },
  { days: 8, hour: 12, by: 1, reminds: true },
  { days: 5, hour: 17, by: 0, decides: true },
  { days: 3, hour: 9, by: 2 },
]

/** The RSVPs of accepted people, in turn. `undefined` means no RSVP yet. */
export const rsvps: (Rsvp | undefined)[] = [
  'coming',
  'coming',
  'not coming',
  'coming',
  'coming',
  undefined,
  'coming',
  'coming',
]

/** The questions to guests. */
export const guestQuestions: Omit<Question, 'id'>[] = [
  {
    kind: 'choice',
    text: 'When do you arrive?',
    choices: ['Thursday evening', 'Friday by noon', 'Friday evening'],
    is_required: true,
    is_private: false,
  },
  { kind: 'short', text: 'What do you not eat?', choices: [], is_required: true, is_private: false },
  { kind: 'yes-no', text: 'Would you share a room?', choices: [], is_required: false, is_private: false },
  {
    kind: 'short',
    text: 'Whom do we call in an emergency?',
    choices: [],
    is_required: true,
    is_private: true,
  },
]

/** The guests' answers, in turn and in the order of the questions. `undefined` means that they have not answered. */
export const guestAnswers: (readonly string[] | undefined)[] = [
  ['Thursday evening', 'Nuts', 'yes', 'My sister, 555 0142'],
  ['Friday by noon', 'I eat everything', 'no', 'Jonas, 555 0117'],
  ['Friday evening', 'Meat and fish', '', 'My office, 555 0160'],
  undefined,
  ['Friday by noon', 'Gluten', 'yes', 'Mara, 555 0199'],
]

/** Returns the time at this hour of the day that is `days` before `end`, or after it if `days` is negative. */
export function timeBefore(end: Date, days: number, hour: number) {
  const midnight = new Date(end.getFullYear(), end.getMonth(), end.getDate() - days)
  return new Date(midnight.getTime() + hour * 60 * minute)
}

/** All applications with their times and final statuses, the oldest first. */
export function applicationsUntil(end: Date, random: () => number) {
  const all = people()
  const times = all
    .map((_, index) => {
      const days = Math.floor(weeks * 7 * (1 - (index + random()) / applicationCount))
      const at = timeBefore(end, days, 6.5 + 17 * random())
      // Times of today that are not past yet become random times of the last eight hours.
      const latest = end.getTime() - 10 * minute
      return new Date(at.getTime() < latest ? at : latest - random() * 8 * 60 * minute)
    })
    .toSorted((a, b) => a.getTime() - b.getTime())
  const finalStatuses = Object.entries(statusCounts).flatMap(([status, count]) =>
    Array<Status>(count).fill(status as Status),
  )
  while (finalStatuses.length < applicationCount - newestCount) finalStatuses.push('new')
  const shuffledStatuses = finalStatuses
    .map((status) => ({ status, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ status }) => status)
  // One accepted and one declined applicant no longer have a mailbox.
  const unreachable = (['accepted', 'declined'] as const).map((status) => {
    const indexes = [...shuffledStatuses.entries()]
      .filter(([, each]) => each === status)
      .map(([index]) => index)
    return indexes[indexes.length >> 1]
  })
  const first = end.getTime() - weeks * 7 * day + 20 * minute
  return all.map((application, index) => ({
    application: unreachable.includes(index)
      ? { ...application, email: application.email.replace(/@.*/, `@${closedDomain}`) }
      : application,
    at: new Date(Math.max(times[index]?.getTime() ?? 0, first + index)),
    finalStatus: shuffledStatuses[index] ?? 'new',
  }))
}
