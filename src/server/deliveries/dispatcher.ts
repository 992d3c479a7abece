import { upkeepInterval, startPolling } from '../polling.ts'
import { createRepeats } from '../repeats.ts'
import { createPace, type Pace } from './pace.ts'
import { deliver, type DeliveryResult, type Receiver } from './webhook.ts'
import type { Sql } from '../database/connection/sql.ts'

/** A delivery that this server has claimed. */
interface Claim {
  /** The same on every try. */
  id: string
  /** Which try this is, from 1. */
  attempt: number
  body: URLSearchParams
}

/** The deliveries of one kind. A dispatcher claims them here, and records their results. */
export interface Outbox<Claimed extends Claim> {
  /** Whether the receiver's responses are logged. */
  logsReplies: boolean
  /** Claims at most `max` deliveries that are due. */
  claimDue: (sql: Sql, max: number) => Promise<Claimed[]>
  /** Records the result of a try. */
  record: (sql: Sql, claim: Claimed, result: DeliveryResult) => Promise<keyof typeof logMessages>
  /** Gives back a claim whose try was aborted. `isUncertain`: the receiver may have got the delivery. */
  giveBack: (sql: Sql, claim: Claimed, isUncertain: boolean | undefined) => Promise<void>
  /** Periodic upkeep, if any. */
  upkeep?: (sql: Sql) => Promise<void>
}

/** A running dispatcher: it delivers the due deliveries of an outbox. */
export interface Dispatcher {
  /** Polls now, since something new may be due. */
  wake(): void
  /** Claims nothing more. Resolves when the pending tries have ended. */
  stop(): Promise<void>
}

/** The options of a dispatcher. */
export interface DispatcherOptions<Claimed extends Claim> {
  /** The database, as the schema's owner. */
  sql: Sql
  outbox: Outbox<Claimed>
  receiver: Receiver
  /** The limit of tries, shared by all outboxes of the receiver; default none. */
  pace?: Pace
  /** Milliseconds between polls of the outbox. */
  interval?: number
  log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

/** The log message for each result of a try. */
const logMessages = {
  delivered: 'webhook delivered',
  retry: 'webhook failed; it will be tried again',
  'given up': 'webhook given up',
  withdrawn: 'webhook withdrawn before it was accepted',
  lost: 'webhook result ignored: its lease had expired',
}

/** The result of a try, in a sentence for organisers, without any text of the response. */
export function describeResult({ status, isUncertain = false }: DeliveryResult): string {
  if (status !== null) return `HTTP ${status}`
  return isUncertain ? 'No response.' : 'No connection was made.'
}

const concurrency = 10
const pollInterval = 1_000
/** Milliseconds that pending tries may still take when the dispatcher stops. */
const grace = 3_000

/** Starts the dispatcher of one kind of webhook, which claims due deliveries and attempts them until it is stopped. */
export function startDispatcher<Claimed extends Claim>({
  sql,
  outbox,
  receiver,
  log,
  pace = createPace(0),
  interval = pollInterval,
}: DispatcherOptions<Claimed>): Dispatcher {
  const cancellation = new AbortController()
  const pending = new Set<Promise<void>>()
  const failures = createRepeats()

  /** Whether another delivery failed alike on the same try within a minute. */
  const isRepeatedFailure = ({ attempt: number, status }: { attempt: number; status: number | null }) =>
    failures.isRepeated(`${number} ${status}`, (count) =>
      log.warn({ attempt: number, status, count }, 'more webhooks failed; they will be tried again'),
    )

  const attempt = async (claim: Claimed) => {
    const startedAt = performance.now()
    const result = await deliver(claim.id, claim.body, receiver, cancellation.signal)
    if (result.status === null && cancellation.signal.aborted) {
      return outbox.giveBack(sql, claim, result.isUncertain)
    }
    const outcome = await outbox.record(sql, claim, result)
    const details = {
      webhookId: claim.id,
      attempt: claim.attempt,
      status: result.status,
      ...(outbox.logsReplies ? { answer: result.text } : {}),
      milliseconds: Math.round(performance.now() - startedAt),
    }
    if (outcome === 'delivered') log.info(details, logMessages.delivered)
    else if (outcome !== 'retry' || !isRepeatedFailure(details)) log.warn(details, logMessages[outcome])
  }

  let lastUpkeep = Number.NEGATIVE_INFINITY
  const claimDue = async (max: number) => {
    if (outbox.upkeep && performance.now() - lastUpkeep >= upkeepInterval) {
      // Set before the call: if the upkeep fails, due deliveries do not wait for its retry.
      lastUpkeep = performance.now()
      await outbox.upkeep(sql)
    }
    return outbox.claimDue(sql, max)
  }

  const polling = startPolling(
    async () => {
      const free = Math.min(concurrency - pending.size, pace.free())
      if (free <= 0) return
      // Taken before the claim, since another outbox may share the pace.
      pace.take(free)
      const claims = await claimDue(free).catch((error: unknown) => {
        pace.take(-free)
        throw error
      })
      pace.take(claims.length - free)
      for (const claim of claims) {
        const running: Promise<void> = attempt(claim)
          .catch((error: unknown) =>
            log.warn({ webhookId: claim.id, err: error }, 'a delivery could not be recorded'),
          )
          .finally(() => {
            pending.delete(running)
            polling.wake()
          })
        pending.add(running)
      }
    },
    interval,
    (error) => log.warn({ err: error }, 'the outbox could not be read'),
  )

  return {
    wake: polling.wake,
    async stop() {
      const graceTimer = setTimeout(() => cancellation.abort(), grace)
      await polling.stop()
      await Promise.all(pending)
      clearTimeout(graceTimer)
      failures.end()
    },
  }
}
