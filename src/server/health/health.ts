import type { FastifyInstance, FastifyReply } from 'fastify'

import { version } from '../../settings/version.ts'
import type { BackupState } from '../backups/scheduled.ts'
import { letterHealth, type LetterHealth } from '../letters/overview.ts'
import { deliveryHealth, type DeliveryHealth } from '../deliveries/overview.ts'
import type { Sql } from '../database/sql.ts'
import { cached } from '../cached.ts'
import { within } from '../within.ts'

/** What the health of the server is computed from. */
export interface HealthOptions {
  /** Asks the database, as the schema's owner. */
  sql: Sql
  /** Whether deliveries are made: otherwise none can be late. */
  delivers: boolean
  /** Whether the last applications were stored. */
  storing: Storing
  /** Whether the files of the database are not there any more. */
  areFilesGone?: (() => boolean) | undefined
  /** The state of the backups, where some are made. */
  backups?: (() => BackupState) | undefined
  /** A clock, in milliseconds. */
  now?: () => number
}

/** Whether applications can be stored, judged by the last ones. */
export interface Storing {
  /** Whether the database could not store the last one. */
  fails: boolean
  /** When an application was last not stored in time, if none was stored since; by the clock of `performance.now()`. */
  lateAt?: number | undefined
}

/** What is stuck, if anything is. */
type Health = DeliveryHealth & LetterHealth

/** What whoever watches has to know of the backups; all null where none are made. */
interface BackupHealth {
  /** How old the newest whole backup is; null, too, where there is none yet. */
  newestBackupSeconds: number | null
  /** Since when no backup can be made, or erasures cannot be listed; null while both work. */
  backupsFailingSince: string | null
}

/** Routes that are called so often that they would fill the log. Their failures are logged all the same. */
export const probes: readonly (string | undefined)[] = ['/healthz', '/readyz']

/** Milliseconds for which an answer of the database is used again, however often the route is called. */
const freshness = 1_000
/** Milliseconds after which the database counts as gone. */
const timeout = 2_000
/**
 * Milliseconds for which an application that was not stored in time counts against the server. That other rows can be
 * written does not show that applications can: they may wait for a lock or for a standby.
 */
const lateness = 60_000

/**
 * For whoever watches over the server: `GET /healthz` says that the process runs, and its version. `GET /readyz` says that its
 * database answers and takes applications, and what is stuck: deliveries to the webhook, letters, the mail server, backups.
 * The schedule of the backups reads their folder, so that a folder that does not answer keeps nobody waiting here.
 */
export async function health(app: FastifyInstance, options: HealthOptions) {
  const { sql, delivers, storing, areFilesGone, backups, now = () => performance.now() } = options
  const answer = (reply: FastifyReply, code: number, body: Record<string, unknown>) =>
    reply.code(code).header('cache-control', 'no-store').send(body)

  const ask = async (): Promise<Health> => {
    // Once an application could not be stored, only a write shows that the next one can.
    if (storing.fails) await checkWritable(sql)
    storing.fails = false
    const [deliveries, letters] = await Promise.all([deliveryHealth(sql), letterHealth(sql)])
    return { ...deliveries, ...letters, ...(delivers ? {} : { oldestUndeliveredSeconds: null }) }
  }
  // A database that does not answer is not asked more often, either.
  const current = cached(() => within(timeout, ask(), () => new Error(`no answer within ${timeout} ms`)), {
    keepsFailures: true,
    now,
  })

  app.get('/healthz', (_request, reply) => answer(reply, 200, { status: 'ok', version }))

  app.get('/readyz', async (request, reply) => {
    if (storing.lateAt !== undefined && now() - storing.lateAt < lateness) {
      return answer(reply, 503, { status: 'the database stores nothing in time' })
    }
    try {
      return await answer(reply, 200, {
        status: 'ok',
        ...(await current(freshness)),
        ...backupHealth(backups?.()),
      })
    } catch (error) {
      request.log.error({ err: error }, 'the database takes nothing')
      if (areFilesGone?.()) return answer(reply, 503, { status: 'the files of the database are gone' })
      const status = storing.fails ? 'the database stores nothing' : 'the database does not answer'
      return answer(reply, 503, { status })
    }
  })
}

function backupHealth(state: BackupState | undefined): BackupHealth {
  const { newestAt, failingSince } = state ?? {}
  return {
    newestBackupSeconds:
      newestAt === undefined ? null : Math.max(Math.round((Date.now() - newestAt.getTime()) / 1000), 0),
    backupsFailingSince: failingSince?.toISOString() ?? null,
  }
}

/**
 * Writes a little and rolls it back, since reading does not show that the disk is full.
 *
 * @throws {DatabaseError} where the database cannot write.
 */
async function checkWritable(sql: Sql): Promise<void> {
  await sql.begin(
    async (transaction) => transaction`
      create temp table writable on commit drop as
      select repeat(md5(n::text), 250) as filler from generate_series(1, 16) as n`,
  )
}
