import type { MailServer } from '../../settings/mail-settings.ts'
import type { Run } from '../database/lanes.ts'
import { startPolling } from '../polling.ts'
import { compose, isAddress } from './compose.ts'
import { createHandover, type Handover, type HandoverResult } from './handover.ts'
import { beat, claimDue, pauseAll, release, settle, type Claim } from './outbox.ts'

/** Hands over the letters that are due for as long as it runs. */
export interface Postman {
  /** Says that something new may be due. */
  wake(): void
  /** Takes nothing more, and ends when the handovers under way have. */
  stop(): Promise<void>
}

export interface PostmanOptions {
  /** Asks the database, as the schema's owner. */
  run: Run
  mailServer: MailServer
  /** Letters a minute, from all servers on the database together; 0 is no limit. */
  perMinute: number
  /** Milliseconds between polls of the outbox when nobody wakes the postman. */
  interval?: number
  /** Milliseconds for a handover. */
  limit?: number
  log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

/** What is logged of a try. */
const said = {
  sent: 'letter sent',
  refused: 'letter refused',
  retry: 'letter not taken; it will be tried again',
  'given up': 'letter given up',
  withdrawn: 'letter withdrawn before it was taken',
  lost: 'letter answered too late: another try was begun meanwhile',
}

/** Connections at the same time. */
const workers = 5
const pollInterval = 1_000
const beatInterval = 20_000
/** Milliseconds that handovers under way are given when the postman stops. */
const grace = 3_000

export function startPostman({
  run,
  mailServer,
  perMinute,
  log,
  interval = pollInterval,
  limit,
}: PostmanOptions): Postman {
  const pause = perMinute > 0 ? 60_000 / perMinute : undefined
  const cancellation = new AbortController()
  const handovers = Array.from({ length: workers }, () => createHandover(mailServer, limit))
  const free = [...handovers]
  const underWay = new Set<Promise<void>>()
  let nextTurn: NodeJS.Timeout | undefined

  const attempt = async (claim: Claim, handover: Handover) => {
    const started = Date.now()
    const result = await give(claim, handover)
    if (result.outcome === 'unavailable') {
      // First: what is released is due at once.
      const isFirst = await run((sql) => pauseAll(sql, result.problem))
      await run((sql) => release(sql, claim))
      if (isFirst) log.warn({ code: result.code, problem: result.problem }, 'letters are kept for a while')
      return
    }
    if (result.outcome === 'broken off') return run((sql) => release(sql, claim))
    const outcome = await run((sql) => settle(sql, claim, result))
    // Neither the address nor the mail server's words, which may quote it.
    const details = {
      letterId: claim.id,
      attempt: claim.attempt,
      outcome,
      code: result.code,
      milliseconds: Date.now() - started,
    }
    if (outcome === 'sent') log.info(details, said.sent)
    else log.warn(details, said[outcome])
  }

  const give = async (claim: Claim, handover: Handover): Promise<HandoverResult> => {
    if (!isAddress(claim.to)) {
      return { outcome: 'refused', code: null, answer: 'This is not one plain address.' }
    }
    try {
      return await handover.give(await compose(claim, mailServer.from), cancellation.signal)
    } catch (error) {
      log.warn({ letterId: claim.id, err: error }, 'a letter could not be written as a mail')
      const answer = 'This could not be written as a mail.'
      return { outcome: 'retry', code: null, answer, isUncertain: false }
    }
  }

  const polling = startPolling(
    async () => {
      if (free.length === 0) return
      const claim = await run((sql) => claimDue(sql, { pause }))
      const handover = claim === undefined ? undefined : free.pop()
      if (claim === undefined || handover === undefined) return
      const running: Promise<void> = attempt(claim, handover)
        .catch((error: unknown) =>
          log.warn({ letterId: claim.id, err: error }, 'what a letter came to could not be recorded'),
        )
        .finally(() => {
          underWay.delete(running)
          free.push(handover)
          polling.wake()
        })
      underWay.add(running)
      if (pause === undefined) return polling.wake()
      clearTimeout(nextTurn)
      nextTurn = setTimeout(polling.wake, pause)
    },
    interval,
    (error) => log.warn({ err: error }, 'the letters that are due could not be read'),
  )

  const tellOfUs = () => {
    run(beat).catch((error: unknown) => log.warn({ err: error }, 'the database was not told of the postman'))
  }

  const beats = setInterval(tellOfUs, beatInterval)
  tellOfUs()

  return {
    wake: polling.wake,
    async stop() {
      clearInterval(beats)
      const late = setTimeout(() => cancellation.abort(), grace)
      await polling.stop()
      clearTimeout(nextTurn)
      await Promise.all(underWay)
      clearTimeout(late)
      await Promise.all(handovers.map((handover) => handover.end()))
    },
  }
}
