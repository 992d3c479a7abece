import { setTimeout as wait } from 'node:timers/promises'

import { hostAndPort, type MailServer } from '../../settings/mail-settings.ts'
import { upkeepInterval, startPolling } from '../polling.ts'
import { compose, isAddress, type Mail, type Message } from '../mail/compose.ts'
import { createMailConnection, type MailConnection, type HandoverResult } from '../mail/handover.ts'
import { blameOf, type Blame } from '../mail/refusals.ts'
import { recordHeartbeat } from '../deliveries/record.ts'
import { claimMail, type MailClaim } from './claims.ts'
import { tidyNotices, noticeMessage } from './notices.ts'
import { giveBack, isCause, record, type RecordedResult } from './outcomes.ts'
import { backOffAll } from './mail-sender-state.ts'
import type { Sql } from '../database/connection/sql.ts'

/** A running mail sender: it hands due emails over to the mail server. */
export interface MailSender {
  /** Polls now, since something new may be due. */
  wake(): void
  /** Claims nothing more. Resolves when the pending handovers have ended. */
  stop(): Promise<void>
}

/** The options of the mail sender. */
export interface MailSenderOptions {
  /** The database, as the schema's owner. */
  sql: Sql
  mailServer: MailServer
  /** The public address, to which notices link. */
  site: URL
  /** The page's title, for the calendar file of a confirmation. */
  siteTitle: string
  /** Emails a minute, over all servers of the database; 0 means no limit. */
  perMinute: number
  /** Milliseconds between polls of the outbox. */
  interval?: number
  /** Timeout of a handover, in milliseconds. */
  timeout?: number
  log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

/** The log message for each result of a try. */
const logMessages = {
  sent: 'letter sent',
  refused: 'letter refused',
  retry: 'letter deferred; it will be retried',
  'given up': 'letter given up',
  withdrawn: 'letter withdrawn before it was accepted',
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
/** Milliseconds that pending handovers may still take when the mail sender stops. */
const grace = 3_000

/** An email that is to be handed over. */
interface Job {
  claim: MailClaim
  message: Message
}

/** The result of a try, and what its failure is about. */
interface Try {
  result: HandoverResult
  blame: Blame
}

/** Decides what a failure is about. A closed connection counts as this email's own if the email was the cause too often. */
function judge(result: HandoverResult, claim: MailClaim): Try {
  if (result.outcome === 'unavailable' && result.isClosing && isCause(claim)) {
    const { code, problem: reply } = result
    return { result: { outcome: 'retry', code, reply, isUncertain: false }, blame: 'email' }
  }
  return { result, blame: 'reply' in result ? blameOf(result) : 'email' }
}

/** Starts the mail sender, which claims due emails and hands them over to the mail server until it is stopped. */
export function startMailSender({
  sql,
  mailServer,
  site,
  siteTitle,
  perMinute,
  log,
  interval = pollInterval,
  timeout,
}: MailSenderOptions): MailSender {
  const pause = perMinute > 0 ? 60_000 / perMinute : undefined
  const cancellation = new AbortController()
  const connections = Array.from({ length: connectionCount }, () => createMailConnection(mailServer, timeout))
  const idle = [...connections]
  const pending = new Set<Promise<void>>()
  let nextPoll: NodeJS.Timeout | undefined

  const claimNext = async (): Promise<Job | undefined> => {
    const claim = await claimMail(sql, { siteTitle, pause })
    if (claim === undefined) return undefined
    return { claim, message: 'says' in claim ? noticeMessage(claim, site) : claim }
  }

  const attempt = async ({ claim, message }: Job, connection: MailConnection) => {
    const startedAt = performance.now()
    const { result, blame } = await handOver(claim, message, connection)
    if (result.outcome === 'unavailable') {
      // Back off first, because an email whose claim is given back is due at once.
      const isFirst = await backOffAll(sql, result.problem)
      await giveBack(sql, claim, result)
      if (isFirst) {
        const { code, problem, cause } = result
        log.warn(
          { ...hostAndPort(mailServer), code, problem, cause },
          'the mail server is unavailable; letters will be retried',
        )
      }
      return
    }
    if (result.outcome === 'broken off') return giveBack(sql, claim)
    const outcome = await recordResult(claim, result, blame)
    // Log neither the address nor the mail server's reply, which may quote the address.
    const details = {
      letterId: claim.id,
      attempt: claim.attempt,
      outcome,
      code: result.code,
      milliseconds: Math.round(performance.now() - startedAt),
    }
    if (outcome === 'sent') log.info(details, logMessages.sent)
    else log.warn(details, logMessages[outcome])
  }

  /** Records a result, even if the database is away for a moment. Without a record, the email would be sent again. */
  const recordResult = async (claim: MailClaim, result: RecordedResult, blame: Blame) => {
    const until = performance.now() + recordTimeout
    for (;;) {
      try {
        return await record(sql, claim, result, blame)
      } catch (error) {
        if (performance.now() > until) throw error
        await wait(recordPause, undefined, { signal: cancellation.signal }).catch(() => Promise.reject(error))
      }
    }
  }

  const handOver = async (claim: MailClaim, message: Message, connection: MailConnection): Promise<Try> => {
    if (!isAddress(message.to)) {
      const reply = 'This is not one plain address.'
      return { result: { outcome: 'refused', code: null, reply }, blame: 'email' }
    }
    let mail: Mail
    try {
      mail = await compose(message, mailServer.from)
    } catch (error) {
      log.warn({ letterId: message.id, err: error }, 'a letter could not be composed as an email')
      const reply = 'This could not be composed as an email.'
      return { result: { outcome: 'retry', code: null, reply, isUncertain: false }, blame: 'email' }
    }
    return judge(await connection.handOver(mail, cancellation.signal), claim)
  }

  const polling = startPolling(
    async () => {
      if (idle.length === 0) return
      const job = await claimNext()
      const connection = job === undefined ? undefined : idle.pop()
      if (job === undefined || connection === undefined) return
      const running: Promise<void> = attempt(job, connection)
        .catch((error: unknown) =>
          log.warn({ letterId: job.message.id, err: error }, 'the result of a letter could not be recorded'),
        )
        .finally(() => {
          pending.delete(running)
          idle.push(connection)
          polling.wake()
        })
      pending.add(running)
      if (pause === undefined) return polling.wake()
      clearTimeout(nextPoll)
      nextPoll = setTimeout(polling.wake, pause)
    },
    interval,
    (error) => log.warn({ err: error }, 'due letters could not be read'),
  )

  const upkeep = startPolling(
    async () => {
      await recordHeartbeat(sql, 'mail sender')
      await tidyNotices(sql)
    },
    upkeepInterval,
    (error) => log.warn({ err: error }, 'the upkeep of the mail sender failed'),
  )

  return {
    wake: polling.wake,
    async stop() {
      const graceTimer = setTimeout(() => cancellation.abort(), grace)
      await Promise.all([polling.stop(), upkeep.stop()])
      clearTimeout(nextPoll)
      await Promise.all(pending)
      clearTimeout(graceTimer)
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}
