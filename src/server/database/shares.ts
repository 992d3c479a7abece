import { DeadlineError, type Run } from './lanes.ts'

/**
 * Shares lanes among people, so that slow work holds up only the person who asked for it. Each lane runs one statement at a
 * time, and one person uses at most half of the lanes. Waiting work runs in the order in which it came.
 *
 * @param run Runs work on the least busy of the lanes.
 * @param lanes How many there are.
 * @param deadline Milliseconds after which what still waits fails.
 * @returns What runs the work of one person, whoever that is.
 */
export function shareLanes(run: Run, lanes: number, deadline: number): (person: string) => Run {
  const mostOfOne = Math.max(1, Math.floor(lanes / 2))
  const underWay = new Map<string, number>()
  const waiting = new Set<{ person: string; start: () => void }>()
  let free = lanes

  const startNext = () => {
    for (const next of waiting) {
      if (free === 0) return
      const ofTheirs = underWay.get(next.person) ?? 0
      if (ofTheirs >= mostOfOne) continue
      waiting.delete(next)
      underWay.set(next.person, ofTheirs + 1)
      free -= 1
      next.start()
    }
  }

  const turn = (person: string) =>
    new Promise<void>((resolve, reject) => {
      const place = { person, start: () => (clearTimeout(timer), resolve()) }
      const timer = setTimeout(() => {
        waiting.delete(place)
        reject(new DeadlineError(`no connection was free within ${deadline} ms`))
      }, deadline)
      waiting.add(place)
      startNext()
    })

  return (person) => async (work) => {
    await turn(person)
    try {
      return await run(work)
    } finally {
      free += 1
      const left = (underWay.get(person) ?? 1) - 1
      if (left === 0) underWay.delete(person)
      else underWay.set(person, left)
      startNext()
    }
  }
}
