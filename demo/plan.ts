import type { Answer, Status } from '../src/application/statuses.ts'
import { howMany, people } from './people.ts'

/** At which no mail arrives any more. */
export const closed = 'closed.example'

export const weeks = 6
export const minute = 60_000
export const day = 24 * 60 * minute

/** What will become of how many; the others are new. Who applied last is new, too. */
const fates: Record<Exclude<Status, 'new'>, number> = {
  accepted: 36,
  waitlisted: 24,
  declined: 62,
  shortlisted: 27,
}
const newest = 20

/** When organisers sit down, in days before today, and at which hour; whether they choose from the shortlist then. */
export const sittings: { days: number; hour: number; by: number; chooses?: true; reminds?: true }[] = [
  { days: 39, hour: 9.5, by: 0 },
  { days: 36, hour: 20, by: 1 },
  { days: 33, hour: 11, by: 2 },
  { days: 30, hour: 21.5, by: 0 },
  { days: 27, hour: 14, by: 1 },
  { days: 24, hour: 10, by: 0, chooses: true },
  { days: 21, hour: 19, by: 2 },
  { days: 17, hour: 16.5, by: 0, chooses: true },
  { days: 14, hour: 8.5, by: 1 },
  { days: 9, hour: 20.5, by: 2, chooses: true },
  { days: 8, hour: 12, by: 1, reminds: true },
  { days: 5, hour: 17, by: 0, chooses: true },
  { days: 3, hour: 9, by: 2 },
]

/** What those who are told answer, in turn. */
export const answers: (Answer | undefined)[] = [
  'coming',
  'coming',
  'not coming',
  'coming',
  'coming',
  undefined,
  'coming',
  'coming',
]

/** A time of day, some days before another one. */
export function timeOf(end: Date, days: number, hour: number) {
  const midnight = new Date(end.getFullYear(), end.getMonth(), end.getDate() - days)
  return new Date(midnight.getTime() + hour * 60 * minute)
}

/** Who applies, when, and what will become of it: the oldest first. */
export function applicationsUntil(end: Date, random: () => number) {
  const all = people()
  const times = all
    .map((_, index) => {
      const days = Math.floor(weeks * 7 * (1 - (index + random()) / howMany))
      const at = timeOf(end, days, 6.5 + 17 * random())
      // Today until now, and not before the first day began.
      const latest = end.getTime() - 10 * minute
      return new Date(at.getTime() < latest ? at : latest - random() * 8 * 60 * minute)
    })
    .toSorted((a, b) => a.getTime() - b.getTime())
  const open = Object.entries(fates).flatMap(([fate, count]) => Array<Status>(count).fill(fate as Status))
  while (open.length < howMany - newest) open.push('new')
  const fateOf = open
    .map((fate) => ({ fate, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ fate }) => fate)
  // Of each of these the one in the middle has moved.
  const moved = (['accepted', 'declined'] as const).map((fate) => {
    const those = [...fateOf.entries()].filter(([, each]) => each === fate).map(([index]) => index)
    return those[those.length >> 1]
  })
  const first = end.getTime() - weeks * 7 * day + 20 * minute
  return all.map((application, index) => ({
    application: moved.includes(index)
      ? { ...application, email: application.email.replace(/@.*/, `@${closed}`) }
      : application,
    at: new Date(Math.max(times[index]?.getTime() ?? 0, first + index)),
    fate: fateOf[index] ?? 'new',
  }))
}
