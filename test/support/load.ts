import { send } from './send-application.ts'
import { anApplication } from './form.ts'

/** Functions that run in loops. */
export interface RepeatedWork {
  /** Resolves when the condition is true. The condition is checked after each run of a function. Rejects if one fails. */
  waitUntil(condition: () => boolean): Promise<void>
  /** Ends the loops. Resolves when their current runs are done. */
  end(): Promise<void>
}

/** Runs each function in a loop, in parallel with the others, until `end` is called. */
export function startRepeating(tasks: readonly (() => Promise<unknown>)[]): RepeatedWork {
  const waiting = new Set<() => void>()
  let ended = false
  const loops = Promise.all(
    tasks.map(async (task) => {
      while (!ended) {
        await task()
        for (const check of waiting) check()
      }
    }),
  )
  return {
    waitUntil: (condition) =>
      // A function that fails ends the wait, too.
      Promise.race([
        loops.then(() => {}),
        new Promise<void>((resolve) => {
          const check = () => {
            if (!condition()) return
            waiting.delete(check)
            resolve()
          }
          waiting.add(check)
        }),
      ]),
    async end() {
      ended = true
      await loops
    },
  }
}

/** Applications that are being sent in a loop. */
export interface Load extends RepeatedWork {
  /** The email addresses of the acknowledged applications. */
  acknowledged: string[]
  /** The times of the acknowledgements, in milliseconds of `performance.now()`. */
  times: number[]
  /** The HTTP statuses of all responses, and `no answer` if a request had none. */
  statuses: Set<number | string>
}

/** Sends applications without a pause, eight in parallel, until `end` is called. */
export function startLoad(origin: string): Load {
  const acknowledged: string[] = []
  const times: number[] = []
  const statuses = new Set<number | string>()
  const sendOne = async () => {
    const application = anApplication()
    const status = await send(origin, application).catch(() => 'no answer' as const)
    statuses.add(status)
    if (status !== 201) return
    acknowledged.push(application.email)
    times.push(performance.now())
  }
  return { acknowledged, times, statuses, ...startRepeating(Array.from({ length: 8 }, () => sendOne)) }
}
