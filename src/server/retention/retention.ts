import type { Logger } from 'pino'

import type { Sql } from '../database/sql.ts'
import { startPolling, type Polling } from '../polling.ts'

/** Milliseconds between two looks for what is due to be erased. */
const interval = 600_000

/** The options of the retention. */
export interface RetentionOptions {
  /** The database, as the schema's owner. */
  sql: Sql
  log: Pick<Logger, 'info' | 'warn'>
}

/** Erases private answers that are due (`private.keep_answers`), until it is stopped. */
export function startRetention({ sql, log }: RetentionOptions): Polling {
  return startPolling(
    async () => {
      const [{ erased }] = await sql<[{ erased: number }]>`select private.keep_answers() as erased`
      if (erased > 0) log.info({ erased }, 'private answers erased')
    },
    interval,
    (error) =>
      log.warn({ err: error }, 'private answers that are due could not be erased: it will be tried again'),
  )
}
