import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'

import { whenOver } from '../../http/over.ts'
import { MailError, type Mailer } from './mailer.ts'
import type { Message } from './messages.ts'

/** Mails that go out after the answer, so that the answer's time tells nothing about them. */
export interface Outgoing {
  /** Whether there is a mail server. */
  isOn: boolean
  /** Writes and sends mails after the answer was sent. An error is logged. */
  after(reply: FastifyReply, write: () => Promise<Message[]>): void
  /** Waits for mails that are under way, up to a time limit. */
  end(): Promise<void>
}

/** The most mails at the same time, so that a mail server that does not answer does not fill the memory. */
const most = 5_000
/** Milliseconds that a stop waits for a mail server. */
const grace = 5_000
/** Milliseconds after the answer within which the work begins, at random, so that the next answer's time tells nothing either. */
const spread = 250

/**
 * Counts the mails that are under way, so that a stop can wait for them.
 *
 * @param record Called with whether the mail server accepted a mail; not for a refusal of that mail alone.
 */
export function createOutgoing(
  mailer: Mailer | undefined,
  log: FastifyBaseLogger,
  record: (isAccepted: boolean) => Promise<void>,
): Outgoing {
  const underWay = new Set<Promise<void>>()

  const send = async (message: Message) => {
    if (mailer === undefined) return
    const failure: unknown = await mailer.send(message).catch((error: unknown) => error ?? new Error())
    if (!(failure instanceof MailError && failure.isAboutMail)) {
      await record(failure === undefined).catch((error: unknown) =>
        log.warn({ err: error }, 'the state of the mail server could not be recorded'),
      )
    }
    if (failure !== undefined) throw failure
  }

  const act = async (reply: FastifyReply, write: () => Promise<Message[]>) => {
    await new Promise<void>((resolve) => whenOver(reply, resolve))
    await wait(Math.random() * spread)
    for (const message of await write()) await send(message)
  }

  return {
    isOn: mailer !== undefined,
    after(reply, write) {
      if (underWay.size >= most) {
        log.error('a mail was not sent: too many wait for the mail server')
        return
      }
      const done = act(reply, write)
        .catch((error: unknown) => log.error({ err: error }, 'a mail was not sent'))
        .finally(() => underWay.delete(done))
      underWay.add(done)
    },
    async end() {
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
