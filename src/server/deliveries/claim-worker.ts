import { startPolling, upkeepInterval } from '../polling.ts'

/** A log of the tries. */
export interface WorkerLog {
  info: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}

/** Work that servers claim from the database, each piece for one server. */
export interface Work<Claim extends { id: string }> {
  /** Claims at most this many pieces that are due. */
  claim: (most: number) => Promise<Claim[]>
  /** Tries a piece and records what came of it. The signal aborts the try. */
  attempt: (claim: Claim, signal: AbortSignal) => Promise<void>
  /** The number of concurrent tries, and of pieces that one claim may get. */
  concurrency: number
  batch: number
  /** Milliseconds between polls. */
  interval: number
  /** Periodic upkeep, if any. */
  upkeep?: () => Promise<void>
  log: WorkerLog
  /** The key of a piece's id in the log, and the messages about failures of the database. */
  names: { id: string; unread: string; unrecorded: string; upkeep: string }
}

/** A running worker. */
export interface Worker {
  /** Polls now, since something new may be due. */
  wake: () => void
  /** Claims nothing more. Resolves when the pending tries have ended. */
  stop: () => Promise<void>
}

/** Milliseconds that pending tries may still take when a worker stops. */
const grace = 3_000

/** Starts a worker, which claims due work and tries it until it is stopped. */
export function startWorker<Claim extends { id: string }>({
  claim,
  attempt,
  concurrency,
  batch,
  interval,
  upkeep,
  log,
  names,
}: Work<Claim>): Worker {
  const cancellation = new AbortController()
  const pending = new Set<Promise<void>>()

  const start = (claimed: Claim) => {
    const running: Promise<void> = attempt(claimed, cancellation.signal)
      .catch((error: unknown) => log.warn({ [names.id]: claimed.id, err: error }, names.unrecorded))
      .finally(() => {
        pending.delete(running)
        polling.wake()
      })
    pending.add(running)
  }

  const polling = startPolling(
    async () => {
      for (;;) {
        const most = Math.min(concurrency - pending.size, batch)
        if (most === 0) return
        const claims = await claim(most)
        claims.forEach(start)
        if (claims.length < most) return
      }
    },
    interval,
    (error) => log.warn({ err: error }, names.unread),
  )
  const upkeeping =
    upkeep && startPolling(upkeep, upkeepInterval, (error) => log.warn({ err: error }, names.upkeep))

  return {
    wake: polling.wake,
    async stop() {
      const graceTimer = setTimeout(() => cancellation.abort(), grace)
      await Promise.all([polling.stop(), upkeeping?.stop()])
      await Promise.all(pending)
      clearTimeout(graceTimer)
    },
  }
}
