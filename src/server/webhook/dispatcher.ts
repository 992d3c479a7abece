import type { Sql } from 'postgres'

import { deliver, type Receiver } from './delivery.ts'
import { claimDue, release, settle, type Claim } from './outbox.ts'

/** Delivers what the outbox holds for as long as it runs. */
export interface Dispatcher {
  /** Says that something new may be due. */
  wake(): void
  /** Takes nothing more, and ends when the tries under way have. */
  stop(): Promise<void>
}

export interface DispatcherOptions {
  sql: Sql
  receiver: Receiver
  log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

const concurrency = 10
/** Milliseconds between polls of the outbox when nobody wakes the dispatcher. */
const interval = 1_000
/** Milliseconds that tries under way are given when the dispatcher stops. */
const grace = 3_000

export function startDispatcher({ sql, receiver, log }: DispatcherOptions): Dispatcher {
  const cancellation = new AbortController()
  const underWay = new Set<Promise<void>>()
  let stopped = false
  let polling: Promise<void> | undefined
  let pollAgain = false

  const attempt = async (claim: Claim) => {
    const started = Date.now()
    const result = await deliver(claim.id, claim.application, receiver, cancellation.signal)
    if (!result.delivered && cancellation.signal.aborted) return release(sql, claim)
    const outcome = await settle(sql, claim, result)
    const details = {
      webhookId: claim.id,
      attempt: claim.attempt,
      status: result.status,
      answer: result.text,
      milliseconds: Date.now() - started,
    }
    if (outcome === 'delivered') log.info(details, 'webhook delivered')
    else
      log.warn(details, outcome === 'retry' ? 'webhook failed; it will be tried again' : 'webhook given up')
  }

  const poll = async () => {
    do {
      pollAgain = false
      const free = concurrency - underWay.size
      if (stopped || free === 0) return
      for (const claim of await claimDue(sql, free)) {
        const running: Promise<void> = attempt(claim)
          .catch((error: unknown) =>
            log.warn({ webhookId: claim.id, err: error }, 'a delivery could not be recorded'),
          )
          .finally(() => {
            underWay.delete(running)
            wake()
          })
        underWay.add(running)
      }
    } while (pollAgain)
  }

  const wake = () => {
    if (stopped) return
    pollAgain = true
    polling ??= poll()
      .catch((error: unknown) => log.warn({ err: error }, 'the outbox could not be read'))
      .finally(() => {
        polling = undefined
      })
  }

  const timer = setInterval(wake, interval)
  wake()

  return {
    wake,
    async stop() {
      stopped = true
      clearInterval(timer)
      const limit = setTimeout(() => cancellation.abort(), grace)
      await polling
      await Promise.all(underWay)
      clearTimeout(limit)
    },
  }
}
