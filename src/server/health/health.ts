import type { FastifyInstance, FastifyReply } from 'fastify'

import { version } from '../../settings/version.ts'
import type { BackupState } from '../backups/scheduled.ts'
import { letterHealth, type LetterHealth } from '../letters/overview.ts'
import { deliveryHealth, type DeliveryHealth } from '../deliveries/overview.ts'
import type { Sql } from '../database/connection/sql.ts'
import { cached } from '../cached.ts'
import { within } from '../within.ts'
import { findStuck } from './stuck.ts'

/** The dependencies of the health routes. */
export interface HealthOptions {
  /** Queries the database, as the schema's owner. */
  sql: Sql
  /** Whether applications are delivered to a webhook. Otherwise no delivery can be late. */
  delivers: boolean
  /** Whether the last applications were stored. */
  storage: StorageState
  /** Whether the database's files are gone. */
  areFilesGone?: (() => boolean) | undefined
  /** Reads the state of the automatic backups; undefined if none are made. */
  backups?: (() => BackupState) | undefined
  /** The limit of open files, for the doctor; undefined if it is unknown. */
  openFiles?: number | undefined
  /** A clock in milliseconds. */
  now?: () => number
}

/** Whether applications can be stored, judged by the latest attempts. */
export interface StorageState {
  /** Whether the database failed to store the last application. */
  isFailing: boolean
  /** When storing an application last timed out, by `performance.now()`; undefined if one was stored since. */
  lateAt?: number | undefined
}

/** Stuck deliveries and letters, if any. */
type Health = DeliveryHealth & LetterHealth

/** The state of the backups, for monitoring; all null if none are made automatically. */
interface BackupHealth {
  /** The age of the newest complete backup; null if there is none. */
  newestBackupSeconds: number | null
  /** Since when backups fail, or erasures cannot be listed; null while both work. */
  backupsFailingSince: string | null
}

/** Routes that are called so often that their requests would fill the log. Their failures are logged. */
export const probes: readonly (string | undefined)[] = ['/healthz', '/readyz']

/** Milliseconds for which a response of the database is reused, however often the route is called. */
const freshness = 1_000
/** Timeout of the database, in milliseconds. */
const timeout = 2_000
/**
 * Milliseconds for which the server is not ready after storing an application timed out. A successful write of other rows
 * does not prove that applications can be stored: they may wait for a lock or for a standby.
 */
const unreadyAfterTimeout = 60_000

/**
 * Routes for monitoring. `GET /healthz` reports that the process runs, and its version. `GET /readyz` reports whether the
 * database responds and stores applications, and whether deliveries to the webhook, letters, the mail server or backups are
 * stuck. Only `GET /readyz?strict` responds with 503 if something is stuck: another server on the same database would not help.
 * The schedule of the backups reads their folder, so that a hanging folder does not block this route.
 */
export async function health(app: FastifyInstance, options: HealthOptions) {
  const { sql, delivers, storage, areFilesGone, backups, openFiles, now = () => performance.now() } = options
  const send = (reply: FastifyReply, code: number, body: Record<string, unknown>) =>
    reply.code(code).header('cache-control', 'no-store').send(body)

  const readHealth = async (): Promise<Health> => {
    // After a failure to store an application, only a successful write shows that the next one can be stored.
    if (storage.isFailing) await checkWritable(sql)
    storage.isFailing = false
    const [deliveries, letters] = await Promise.all([deliveryHealth(sql), letterHealth(sql)])
    return { ...deliveries, ...letters, ...(delivers ? {} : { oldestUndeliveredSeconds: null }) }
  }
  // Failures are cached too, so that a database that does not respond is not queried more often.
  const current = cached(
    () => within(timeout, readHealth(), () => new Error(`no answer within ${timeout} ms`)),
    {
      cachesFailures: true,
      now,
    },
  )

  app.get('/healthz', (_request, reply) => send(reply, 200, { status: 'ok', version, openFiles }))

  app.get<{ Querystring: { strict?: unknown } }>('/readyz', async (request, reply) => {
    if (storage.lateAt !== undefined && now() - storage.lateAt < unreadyAfterTimeout) {
      return send(reply, 503, { status: 'the database stores nothing in time' })
    }
    try {
      const numbers = { ...(await current(freshness)), ...backupHealth(backups?.()) }
      // Without a webhook, nobody can send what was given up.
      const relevant = delivers ? numbers : { ...numbers, deliveriesGivenUp: 0 }
      const stuck = request.query.strict === undefined ? [] : findStuck(relevant)
      const status = stuck.length === 0 ? 'ok' : stuck.join(' ')
      return await send(reply, stuck.length === 0 ? 200 : 503, { status, ...numbers })
    } catch (error) {
      request.log.error({ err: error }, 'the database is not ready')
      if (areFilesGone?.()) return send(reply, 503, { status: 'the files of the database are gone' })
      const status = storage.isFailing ? 'the database stores nothing' : 'the database does not answer'
      return send(reply, 503, { status })
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
 * Writes into a temporary table, which is dropped at the commit. Reads would succeed on a full disk.
 *
 * @throws {DatabaseError} if the database cannot write.
 */
async function checkWritable(sql: Sql): Promise<void> {
  await sql.begin(
    async (transaction) => transaction`
      create temp table writable on commit drop as
      select repeat(md5(n::text), 250) as filler from generate_series(1, 16) as n`,
  )
}
