import { send } from './client.ts'
import { anApplication } from './form.ts'

/** Applications on their way. */
export interface Load {
  /** The e-mails of those that were acknowledged. */
  acknowledged: string[]
  /** When each of those was, in milliseconds of `performance.now()`. */
  times: number[]
  statuses: Set<number | string>
  /** Resolves when the condition holds, which is asked after each answer. */
  reached(condition: () => boolean): Promise<void>
  end(): Promise<void>
}

/** Sends applications without a pause, some at a time, until told to end; gives those that were acknowledged. */
export function load(origin: string): Load {
  const acknowledged: string[] = []
  const times: number[] = []
  const statuses = new Set<number | string>()
  let ended = false
  const sender = async () => {
    while (!ended) {
      const application = anApplication()
      const status = await send(origin, application).catch(() => 'no answer' as const)
      statuses.add(status)
      if (status === 201) {
        acknowledged.push(application.email)
        times.push(performance.now())
      }
      for (const check of waiting) check()
    }
  }
  const waiting = new Set<() => void>()
  const senders = Promise.all(Array.from({ length: 8 }, sender))
  return {
    acknowledged,
    times,
    statuses,
    reached: (condition: () => boolean) =>
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
      await senders
    },
  }
}
