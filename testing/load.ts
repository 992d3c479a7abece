import { send } from './client.ts'
import { anApplication } from './form.ts'

/** Work in a loop. */
export interface RepeatedWork {
  /** Resolves when the condition is true. It is checked after each piece of work. */
  waitUntil(condition: () => boolean): Promise<void>
  /** Resolves when the current work is done and the loop has ended. */
  end(): Promise<void>
}

/** Repeats each work in parallel with the others, until told to end. */
export function startRepeating(works: readonly (() => Promise<unknown>)[]): RepeatedWork {
  const waiting = new Set<() => void>()
  let ended = false
  const loops = Promise.all(
    works.map(async (work) => {
      while (!ended) {
        await work()
        for (const check of waiting) check()
      }
    }),
  )
  return {
    waitUntil: (condition) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!condition()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
      }),
    async end() {
      ended = true
      await loops
    },
  }
}

/** Applications in the process of being sent. */
export interface Load extends RepeatedWork {
  /** The email addresses of the acknowledged applications. */
  acknowledged: string[]
  /** The times of their acknowledgement, in milliseconds of `performance.now()`. */
  times: number[]
  statuses: Set<number | string>
}

/** Sends applications without a pause, several in parallel, until told to end. Collects the acknowledged ones. */
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
