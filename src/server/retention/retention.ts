import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'

import type { Announcement } from '../../application/announcement.ts'
import type { Sql } from '../database/connection/sql.ts'
import { startPolling, type Polling } from '../polling.ts'

/** Milliseconds between two looks for what is due to be erased. */
const interval = 600_000
/** The applications that one step erases. Steps are short, since sending to these applicants waits for their locks. */
const stepSize = 100
/** Milliseconds between two steps, so that inserts keep most of their rate. */
const pause = 100

/** The options of the retention. */
export interface RetentionOptions {
  /** The database, as the schema's owner. */
  sql: Sql
  log: Pick<Logger, 'info' | 'warn'>
}

interface Step {
  erased: number
  /** Set once a day, while applications are announced. */
  announced: Announcement | null
}

/**
 * Announces and erases what is due until it is stopped: private answers (`private.announce_and_erase_answers`) and applications
 * (`private.announce_and_erase_applications`).
 */
export function startRetention({ sql, log }: RetentionOptions): Polling {
  let total = 0
  const polling = startPolling(
    async () => {
      const [{ erased: answers }] = await sql<
        [{ erased: number }]
      >`select private.announce_and_erase_answers() as erased`
      if (answers > 0) log.info({ erased: answers }, 'private answers erased')
      const [{ step }] = await sql<
        [{ step: Step }]
      >`select private.announce_and_erase_applications(${stepSize}) as step`
      if (step.announced) log.info(step.announced, 'applications will be erased')
      total += step.erased
      if (step.erased > 0) {
        await setTimeout(pause)
        return polling.wake()
      }
      if (total > 0) log.info({ erased: total }, 'applications erased')
      total = 0
    },
    interval,
    (error) =>
      log.warn({ err: error }, 'what is due to be erased could not be erased: it will be tried again'),
  )
  return polling
}
