import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

import { hostAndPort, type MailServer } from '../../../settings/mail-settings.ts'
import { onResponseEnd } from '../../http/response-end.ts'
import { isAboutMail, type HandoverResult } from '../../mail/handover.ts'
import type { MailLook } from '../../mail/layout.tsx'
import { preload, send } from '../../mail/send.ts'
import type { SignInEmail } from './messages.ts'

/** Emails that are sent after the response, so that its timing reveals nothing about them. */
export interface Outgoing {
  /** Whether there is a mail server. */
  isOn: boolean
  /**
   * Composes and sends emails after the response was sent. Errors are logged, and the emails after a failed one are not sent.
   *
   * @param delays Milliseconds before each further try of an email that the mail server defers; by default none.
   */
  after(reply: FastifyReply, write: () => Promise<SignInEmail[]>, delays?: readonly number[]): void
  /** Waits for pending emails, up to a time limit, and tries no deferred one again. */
  end(): Promise<void>
}

/**
 * The delays for emails that nobody waits for, who would ask for another one, in milliseconds. Many mail servers defer the first
 * email of a sender (RFC 6647) for some minutes.
 */
export const patientDelays: readonly number[] = [60_000, 300_000, 900_000, 3_600_000]

interface Log {
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** The most responses whose emails are pending. A mail server that hangs must not fill the memory. */
const maxPending = 5_000
/** Milliseconds that a stop waits for a mail server. */
const grace = 5_000
/**
 * The default of the longest random delay between a response and its emails, in milliseconds. It keeps the timing of the next
 * response from revealing anything about them.
 */
const defaultMaxDelay = 250

/**
 * Sends emails and tracks the pending ones, so that a stop can wait for them.
 *
 * @param look Returns the title and the accent colour of the emails that are sent now.
 * @param record Records whether the mail server accepted an email. Not called if the server refused or deferred only this
 *   email.
 * @param maxDelay The longest random delay between a response and its emails, in milliseconds.
 */
export function createOutgoing(
  mailServer: MailServer | undefined,
  look: () => MailLook,
  log: Log,
  record: (isAccepted: boolean) => Promise<void>,
  maxDelay = defaultMaxDelay,
): Outgoing {
  const pending = new Set<Promise<void>>()
  const ending = new AbortController()

  // Loads the mail libraries at the start: otherwise the first email would slow down a response.
  if (mailServer !== undefined) void preload()

  /** Sends an email. Returns what became of it. */
  const trySend = async (email: SignInEmail, to: MailServer) => {
    const { title, accent } = look()
    const handover = await send(email(title), to, { title, accent })
    const isAccepted = handover.result === 'done'
    if (!isAboutMail(handover)) {
      await record(isAccepted).catch((error: unknown) =>
        log.warn({ err: error }, 'the state of the mail server could not be recorded'),
      )
    }
    if (!isAccepted) log.error({ ...hostAndPort(to), ...detailsOf(handover) }, 'an email was not sent')
    return handover.result
  }

  /** Tries to send an email, again after each of these delays. Returns whether the mail server accepted it. */
  const sendPatiently = async (email: SignInEmail, to: MailServer, delays: readonly number[]) => {
    for (const delay of [0, ...delays]) {
      if (delay > 0) await wait(delay, undefined, { signal: ending.signal })
      const result = await trySend(email, to)
      if (result === 'done') return true
      if (result === 'failed') return false
    }
    return false
  }

  const composeAndSend = async (
    reply: FastifyReply,
    write: () => Promise<SignInEmail[]>,
    delays: readonly number[],
  ) => {
    await new Promise<void>((resolve) => onResponseEnd(reply, resolve))
    await wait(Math.random() * maxDelay)
    for (const email of await write()) {
      if (mailServer === undefined || !(await sendPatiently(email, mailServer, delays))) return
    }
  }

  return {
    isOn: mailServer !== undefined,
    after(reply, write, delays = []) {
      if (pending.size >= maxPending) {
        log.error({ count: pending.size }, 'an email was not sent: too many are pending')
        return
      }
      const done = composeAndSend(reply, write, delays)
        .catch((error: unknown) => log.error({ err: error }, 'an email was not sent'))
        .finally(() => pending.delete(done))
      pending.add(done)
    },
    async end() {
      ending.abort()
      const timer = new AbortController()
      await Promise.race([
        Promise.all(pending),
        wait(grace, undefined, { signal: timer.signal }).catch(() => {}),
      ])
      timer.abort()
      if (pending.size > 0) log.error({ count: pending.size }, 'emails were not sent: the server stopped')
    },
  }
}

/** The details of a failure for the log, without the mail server's reply, which may quote an address. */
function detailsOf(handover: HandoverResult) {
  const { result: outcome, code } = handover
  if (handover.result === 'unavailable') {
    return { outcome, code, problem: handover.problem, cause: handover.cause }
  }
  // Without a code, the reply is our own text.
  return handover.result === 'waiting' && code === null
    ? { outcome, code, problem: handover.reply }
    : { outcome, code }
}
