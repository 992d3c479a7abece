import { send } from './client.ts'
import { anApplication } from './form.ts'

/** Work that is done again and again. */
export interface Repeated {
  /** Resolves when the condition holds, which is asked after each piece of work. */
  reached(condition: () => boolean): Promise<void>
  /** Resolves when the work under way is done, and none follows. */
  end(): Promise<void>
}

/** Does each work again and again, all of them side by side, until told to end. */
export function repeat(works: readonly (() => Promise<unknown>)[]): Repeated {
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
    reached: (condition) =>
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

/** Applications on their way. */
export interface Load extends Repeated {
  /** The e-mails of those that were acknowledged. */
  acknowledged: string[]
  /** When each of those was, in milliseconds of `performance.now()`. */
  times: number[]
  statuses: Set<number | string>
}

/** Sends applications without a pause, some at a time, until told to end; gives those that were acknowledged. */
export function load(origin: string): Load {
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
  return { acknowledged, times, statuses, ...repeat(Array.from({ length: 8 }, () => sendOne)) }
}
