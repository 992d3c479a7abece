import { defaultLook } from '../../src/design/look.ts'
import type { Database } from '../../src/server/database/database.ts'
import { startMailSender, type MailSenderOptions } from '../../src/server/letters/mail-sender.ts'
import { openTestDatabase } from './database.ts'
import { atTestEnd } from './cleanup.ts'
import type { MailServer } from './mail-server.ts'
import { resetDatabase } from './reset.ts'
import { mailServerAt } from './sign-in-server.ts'

interface LogLine {
  message: string
  details: Record<string, unknown>
}

/** A database, and functions that start mail senders on it and change its times. */
export interface MailSenderFixture {
  database: Database
  /** Starts a mail sender, by default without a limit on its pace. Returns it with its log. */
  startSender: (
    server: Pick<MailServer, 'port'>,
    options?: Partial<MailSenderOptions>,
  ) => { sender: ReturnType<typeof startMailSender>; lines: LogLine[] }
  /** Moves all times back by this many seconds, so that waiting deliveries become due. */
  advanceTime: (seconds: number) => Promise<void>
  /** Restores the initial contents. */
  reset: () => Promise<void>
}

/** Collects all log lines. */
export function recordLog() {
  const lines: LogLine[] = []
  const write = (details: object, message: string) => {
    lines.push({ message, details: { ...details } })
  }
  return { log: { info: write, warn: write }, lines }
}

export async function startMailSenderFixture(): Promise<MailSenderFixture> {
  const database = await openTestDatabase()
  return {
    database,
    startSender(server, options) {
      const { log, lines } = recordLog()
      const sender = startMailSender({
        sql: database.server,
        mailServer: mailServerAt(server.port),
        site: new URL('https://example.org/retreat/'),
        look: () => defaultLook,
        perMinute: 0,
        log,
        ...options,
      })
      atTestEnd(() => sender.stop())
      return { sender, lines }
    },
    async advanceTime(seconds) {
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
        set paused_until = paused_until ${earlier}, hour_began_at = hour_began_at ${earlier},
          refused_at = refused_at ${earlier}`
    },
    async reset() {
      await resetDatabase(database.owner)
      await database.owner`delete from auth.users`
    },
  }
}
