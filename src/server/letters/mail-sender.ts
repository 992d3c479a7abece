import { setTimeout as wait } from 'node:timers/promises'

import { hostAndPort, type MailServer } from '../../settings/mail-settings.ts'
import { compose, isAddress, type Mail } from '../mail/compose.ts'
import { createMailConnection, type MailConnection, type HandoverResult } from '../mail/handover.ts'
import type { MailLook } from '../mail/layout.tsx'
import { blameOf, type Blame } from '../mail/refusals.ts'
import { recordHeartbeat } from '../deliveries/record-result.ts'
import { startWorker, type Worker, type WorkerLog } from '../deliveries/claim-worker.ts'
import { claimMail, type MailClaim } from './claims.ts'
import { letterMessage } from './letter-message.ts'
import { tidyNotices, noticeMessage } from './notices.ts'
import { giveBack, isCause, record, type Outcome, type RecordedResult } from './outcomes.ts'
import { backOffAll } from './pause-emails.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The options of the mail sender. */
export interface MailSenderOptions {
  /** The database, as the schema's owner. */
  sql: Sql
  mailServer: MailServer
  /** The public address, to which notices and calendar files link. */
  site: URL
  /** Returns the title and the accent colour of the emails that are sent now. */
  look: () => MailLook
  /** Emails a minute, over all servers of the database; 0 means no limit. */
  perMinute: number
  /** Milliseconds between polls of the outbox. */
  interval?: number
  /** Timeout of a handover, in milliseconds. */
  timeout?: number
  log: WorkerLog
}

/** The log message for each outcome of a try. */
const logMessages: Record<Outcome, string> = {
  done: 'letter sent',
  waiting: 'letter deferred; it will be retried',
  failed: 'letter given up',
  cancelled: 'letter withdrawn before it was accepted',
  lost: 'result of a letter ignored: its lease had expired',
  paused: 'the mail server refuses letters; all will be retried',
  waits: 'the mail server refuses letters; all will be retried',
}

/** The number of concurrent connections. */
const connectionCount = 5
const pollInterval = 1_000
/** Milliseconds between two attempts to record a result, and of all attempts. */
const recordPause = 1_000
const recordTimeout = 60_000

/** The handover of a try, and what its failure is about. */
interface Try {
  handover: HandoverResult
  blame: Blame
}

/** Decides what a failure is about. A closed connection counts as this email's own if the email was the cause too often. */
function judge(handover: HandoverResult, claim: MailClaim): Try {
  if (handover.result === 'unavailable' && handover.isClosing && isCause(claim)) {
    const { code, problem: reply } = handover
    return { handover: { result: 'waiting', code, reply, isUncertain: false }, blame: 'email' }
  }
  return { handover, blame: 'reply' in handover ? blameOf(handover) : 'email' }
}

/** Starts the worker that hands due emails over to the mail server. */
export function startMailSender({
  sql,
  mailServer,
  site,
  look,
  perMinute,
  log,
  interval = pollInterval,
  timeout,
}: MailSenderOptions): Worker {
  const pause = perMinute > 0 ? 60_000 / perMinute : undefined
  const connections = Array.from({ length: connectionCount }, () => createMailConnection(mailServer, timeout))
  const idle = [...connections]
  let nextPoll: NodeJS.Timeout | undefined

  const claimNext = async (): Promise<MailClaim[]> => {
    const claim = await claimMail(sql, { site, siteTitle: look().title, pause })
    if (claim === undefined) return []
    if (pause !== undefined) {
      clearTimeout(nextPoll)
      nextPoll = setTimeout(worker.wake, pause)
    }
    return [claim]
  }

  const attempt = async (claim: MailClaim, signal: AbortSignal) => {
    // There are as many connections as concurrent tries.
    const connection = idle.pop() as MailConnection
    try {
      await attemptOn(connection, claim, signal)
    } finally {
      idle.push(connection)
    }
  }

  const attemptOn = async (connection: MailConnection, claim: MailClaim, signal: AbortSignal) => {
    const startedAt = performance.now()
    const { handover, blame } = await handOver(claim, connection, signal)
    if (handover.result === 'unavailable') {
      // Back off first, because an email whose claim is given back is due at once.
      const isFirst = await backOffAll(sql, handover.problem)
      await giveBack(sql, claim, handover)
      if (isFirst) {
        const { code, problem, cause } = handover
        log.warn(
          { ...hostAndPort(mailServer), code, problem, cause },
          'the mail server is unavailable; letters will be retried',
        )
      }
      return
    }
    if (handover.result === 'aborted') return giveBack(sql, claim)
    const outcome = await recordResult(claim, handover, blame, signal)
    // Log neither the address nor the mail server's reply, which may quote the address.
    const details = {
      letterId: claim.id,
      attempt: claim.attempt,
      outcome,
      code: handover.code,
      milliseconds: Math.round(performance.now() - startedAt),
    }
    if (outcome === 'done') log.info(details, logMessages.done)
    else if (outcome === 'failed' && handover.result === 'failed') log.warn(details, 'letter refused')
    else log.warn(details, logMessages[outcome])
  }

  /** Records a result, even if the database is away for a moment. Without a record, the email would be sent again. */
  const recordResult = async (
    claim: MailClaim,
    handover: RecordedResult,
    blame: Blame,
    signal: AbortSignal,
  ) => {
    const until = performance.now() + recordTimeout
    for (;;) {
      try {
        return await record(sql, claim, handover, blame)
      } catch (error) {
        if (performance.now() > until) throw error
        await wait(recordPause, undefined, { signal }).catch(() => Promise.reject(error))
      }
    }
  }

  const handOver = async (
    claim: MailClaim,
    connection: MailConnection,
    signal: AbortSignal,
  ): Promise<Try> => {
    const { title, accent } = look()
    const message = 'says' in claim ? noticeMessage(claim, site) : letterMessage(claim, title)
    if (!isAddress(message.to)) {
      const reply = 'This is not one plain address.'
      return { handover: { result: 'failed', code: null, reply }, blame: 'email' }
    }
    let mail: Mail
    try {
      mail = await compose(message, mailServer.from, { title, accent })
    } catch (error) {
      log.warn({ letterId: message.id, err: error }, 'a letter could not be composed as an email')
      const reply = 'This could not be composed as an email.'
      return { handover: { result: 'waiting', code: null, reply, isUncertain: false }, blame: 'email' }
    }
    return judge(await connection.handOver(mail, signal), claim)
  }

  const worker = startWorker({
    claim: claimNext,
    attempt,
    concurrency: connectionCount,
    batch: 1,
    interval,
    async upkeep() {
      await recordHeartbeat(sql, 'mail sender')
      await tidyNotices(sql)
    },
    log,
    names: {
      id: 'letterId',
      unread: 'due letters could not be read',
      unrecorded: 'the result of a letter could not be recorded',
      upkeep: 'the upkeep of the mail sender failed',
    },
  })
  return {
    wake: worker.wake,
    async stop() {
      await worker.stop()
      clearTimeout(nextPoll)
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}
