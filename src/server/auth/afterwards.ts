import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'

import { whenOver } from '../http/over.ts'

/** Work that nobody waits for: it begins when the answer is out, so that the answer's time tells nothing of it. */
export interface Afterwards {
  /** Does it after the answer was sent. What it fails with is logged. */
  do(reply: FastifyReply, work: () => Promise<void>): void
  /** Lets what is under way end, up to a bound. */
  end(): Promise<void>
}

/** Pieces of work at the same time: a mail server that does not answer must not fill the memory. */
const most = 5_000
/** Milliseconds that a stop waits for a mail server. */
const grace = 5_000
/** Milliseconds after the answer, within which it begins: the time of the next answer is to tell nothing either. */
const spread = 500

/** What is under way is counted, so that a stop can wait for it. */
export function createAfterwards(log: FastifyBaseLogger): Afterwards {
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()
  // One for each that waits.
  setMaxListeners(0, stopping.signal)

  const act = async (reply: FastifyReply, work: () => Promise<void>) => {
    await new Promise<void>((resolve) => whenOver(reply, resolve))
    // A stop ends the pause, not the work.
    await wait(Math.random() * spread, undefined, { signal: stopping.signal }).catch(() => {})
    await work()
  }

  return {
    do(reply, work) {
      if (underWay.size >= most) {
        log.error('a mail was not sent: too many wait for the mail server')
        return
      }
      const done = act(reply, work)
        .catch((error: unknown) => log.error({ err: error }, 'a mail was not sent'))
        .finally(() => underWay.delete(done))
      underWay.add(done)
    },
    async end() {
      stopping.abort()
      const late = new AbortController()
      await Promise.race([
        Promise.all(underWay),
        wait(grace, undefined, { signal: late.signal }).catch(() => {}),
      ])
      late.abort()
      if (underWay.size > 0) log.error({ count: underWay.size }, 'mails were not sent: the server stopped')
    },
  }
}
