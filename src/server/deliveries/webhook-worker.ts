import { createRepeats } from '../repeats.ts'
import { claimDue, type Claim } from './claims.ts'
import { createPace, type Pace } from './pace.ts'
import {
  giveBack,
  mayQuote,
  recordHeartbeat,
  recordTry,
  type WebhookKind,
  type Outcome,
  type Role,
} from './record-result.ts'
import { deliver, type Receiver } from './webhook.ts'
import { startWorker, type Worker, type WorkerLog } from './claim-worker.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The options of a dispatcher. */
export interface DispatcherOptions {
  /** The database, as the schema's owner. */
  sql: Sql
  kind: WebhookKind
  receiver: Receiver
  /** The limit of tries, shared by all kinds for the receiver; default none. */
  pace?: Pace
  /** Milliseconds between polls. */
  interval?: number
  log: WorkerLog
}

/** The log message for each outcome of a try. */
const logMessages: Record<Outcome, string> = {
  done: 'webhook delivered',
  waiting: 'webhook failed; it will be tried again',
  failed: 'webhook given up',
  cancelled: 'webhook withdrawn before it was accepted',
  lost: 'webhook result ignored: its lease had expired',
}

/** The role in which the database knows a server that sends this kind. */
const roles: Partial<Record<WebhookKind, Role>> = { application: 'webhook', decision: 'automation' }

const concurrency = 10
const pollInterval = 1_000

/** Starts the worker that delivers one kind to a webhook. */
export function startDispatcher({
  sql,
  kind,
  receiver,
  log,
  pace = createPace(0),
  interval = pollInterval,
}: DispatcherOptions): Worker {
  const failures = createRepeats()
  const role = roles[kind]

  /** Whether another delivery failed alike on the same try within a minute. */
  const isRepeatedFailure = ({ attempt, status }: { attempt: number; status: number | null }) =>
    failures.isRepeated(`${attempt} ${status}`, (count) =>
      log.warn({ attempt, status, count }, 'more webhooks failed; they will be tried again'),
    )

  const attempt = async (claim: Claim, signal: AbortSignal) => {
    const startedAt = performance.now()
    const result = await deliver(claim.id, claim.body, receiver, signal)
    if (result.status === null && signal.aborted) return giveBack(sql, claim, result.isUncertain)
    pace.record(result.delivered)
    const outcome = await recordTry(sql, claim, result)
    const details = {
      webhookId: claim.id,
      attempt: claim.attempt,
      status: result.status,
      ...(mayQuote(claim) && { answer: result.text }),
      milliseconds: Math.round(performance.now() - startedAt),
    }
    if (outcome === 'done') log.info(details, logMessages.done)
    else if (outcome !== 'waiting' || !isRepeatedFailure(details)) log.warn(details, logMessages[outcome])
  }

  const claim = async (most: number) => {
    const free = Math.min(most, pace.free())
    if (free <= 0) return []
    // Taken before the claim, since another kind may share the pace.
    pace.take(free)
    const claims = await claimDue(sql, kind, free).catch((error: unknown) => {
      pace.take(-free)
      throw error
    })
    pace.take(claims.length - free)
    return claims
  }

  const worker = startWorker({
    claim,
    attempt,
    concurrency,
    batch: concurrency,
    interval,
    ...(role !== undefined && { upkeep: () => recordHeartbeat(sql, role) }),
    log,
    names: {
      id: 'webhookId',
      unread: 'the outbox could not be read',
      unrecorded: 'a delivery could not be recorded',
      upkeep: 'the upkeep of the outbox failed',
    },
  })
  return {
    wake: worker.wake,
    async stop() {
      await worker.stop()
      failures.end()
    },
  }
}
