import type { Database } from '../src/server/database/database.ts'
import {
  startMailSender,
  type MailSender,
  type MailSenderOptions,
} from '../src/server/letters/mail-sender.ts'
import { openTestDatabase } from './database.ts'
import { atEnd } from './endings.ts'
import { templatesOf } from './letters.ts'
import { startMailServer, type MailServer } from './mail-server.ts'
import { mailServerAt } from './sign-in.ts'

interface Logged {
  message: string
  details: Record<string, unknown>
}

/** A database with letters, and the postmen and mail servers of one test. */
export interface TestOutbox {
  database: Database
  receiver: (options?: Parameters<typeof startMailServer>[0]) => Promise<MailServer>
  /** A postman, by default without a pace, and its log. */
  postmanFor: (
    server: Pick<MailServer, 'port'>,
    options?: Partial<MailSenderOptions>,
  ) => { postman: MailSender; lines: Logged[] }
  /** Moves all times back by this many seconds, so that waiting deliveries become due. */
  pass: (seconds: number) => Promise<void>
  /** Restores the initial contents. */
  empty: () => Promise<void>
}

/** Collects all log lines. */
export function aLog() {
  const lines: Logged[] = []
  const write = (details: object, message: string) => {
    lines.push({ message, details: { ...details } })
  }
  return { log: { info: write, warn: write }, lines }
}

export async function startOutbox(): Promise<TestOutbox> {
  const database = await openTestDatabase()
  const restoreTemplates = await templatesOf(database.owner)
  return {
    database,
    receiver: startMailServer,
    postmanFor(server, options) {
      const { log, lines } = aLog()
      const postman = startMailSender({
        sql: database.server,
        mailServer: mailServerAt(server.port),
        site: new URL('https://example.org/retreat/'),
        perMinute: 0,
        log,
        ...options,
      })
      atEnd(() => postman.stop())
      return { postman, lines }
    },
    async pass(seconds) {
      const earlier = database.owner`- ${seconds} * interval '1 second'`
      await database.owner`
        with moved as (
          update private.deliveries set due_at = due_at ${earlier}, queued_at = queued_at ${earlier},
            tried_at = tried_at ${earlier}
        ),
        organised as (
          update private.organisers set told_until = told_until ${earlier}, day_due_at = day_due_at ${earlier}
        ),
        applied as (update public.retreat_applications set created_at = created_at ${earlier}),
        answered as (update private.history set at = at ${earlier})
        update private.postman
        set paused_until = paused_until ${earlier}, hour_began_at = hour_began_at ${earlier}`
    },
    async empty() {
      await database.owner`delete from public.retreat_applications`
      await database.owner`delete from auth.users`
      await database.owner`delete from private.postman`
      await database.owner`insert into private.postman default values`
      await database.owner`update private.letter_settings set reply_to = '', receipts = false`
      await restoreTemplates()
    },
  }
}
