/** How many applications came on a day, as `2026-12-31`. */
export interface Day {
  day: string
  count: number
}

const mostDays = 30

/**
 * The days from the first to the last that has applications, at most the last thirty, those without any in between.
 *
 * @param counts Of each day that has any, in no order.
 */
export function daysOf(counts: Readonly<Record<string, number>>): Day[] {
  const known = Object.keys(counts).toSorted()
  const [first, last] = [known.at(0), known.at(-1)]
  if (first === undefined || last === undefined) return []
  const days: Day[] = []
  for (let day = last; day >= first && days.length < mostDays; day = dayBefore(day))
    days.unshift({ day, count: counts[day] ?? 0 })
  return days
}

/** In UTC every day has as many hours. */
function dayBefore(day: string) {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
}
