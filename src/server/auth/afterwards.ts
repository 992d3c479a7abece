import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'

import { whenOver } from '../http/over.ts'

/** Work that nobody waits for: it begins when the answer is out, so that the answer's time tells nothing of it. */
export interface Afterwards {
  /** Does it once the answer was sent. What it fails with is logged. */
  do(reply: FastifyReply, work: () => Promise<void>): void
  /** Resolves when what is under way is done, or has taken too long. */
  end(): Promise<void>
}

/** Pieces of work at the same time: a mail server that does not answer must not fill the memory. */
const most = 200

/** Milliseconds that a stop waits for a mail server. */
const grace = 5_000

/** What is under way is counted, so that a stop can wait for it. */
export function createAfterwards(log: FastifyBaseLogger): Afterwards {
  const underWay = new Set<Promise<void>>()
  return {
    do(reply, work) {
      if (underWay.size >= most) {
        log.error('a mail was not sent: too many wait for the mail server')
        return
      }
      const answered = new Promise<void>((resolve) => whenOver(reply, resolve))
      const done = answered
        .then(work)
        .catch((error: unknown) => log.error(failure(error), 'a mail was not sent'))
      const counted = done.finally(() => underWay.delete(counted))
      underWay.add(counted)
    },
    async end() {
      const timer = new AbortController()
      const late = wait(grace, undefined, { signal: timer.signal }).catch(() => {})
      await Promise.race([Promise.all(underWay), late])
      timer.abort()
    },
  }
}

/** What may be logged: a mail server's own words quote the address. */
function failure(error: unknown) {
  const { code, responseCode, command } = (error ?? {}) as Record<string, unknown>
  const type = error instanceof Error ? error.name : typeof error
  return { type, code, responseCode, command }
}
