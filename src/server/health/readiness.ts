import type { BackupState } from '../backups/scheduled.ts'
import { cached } from '../cached.ts'
import type { Sql } from '../database/connection/sql.ts'
import { deliveryHealth, type DeliveryHealth } from '../deliveries/overview.ts'
import { letterHealth, type LetterHealth } from '../letters/overview.ts'
import { within } from '../within.ts'
import { findStuck } from './overdue.ts'

/** The dependencies of a server's health. */
export interface HealthOptions {
  /** Queries the database, as the schema's owner. */
  sql: Sql
  /** Whether applications are delivered to a webhook; default false. Otherwise no delivery can be late. */
  delivers?: boolean
  /** Whether the database's files are gone. */
  areFilesGone?: (() => boolean) | undefined
  /** Reads the state of the automatic backups; undefined if none are made. */
  backups?: (() => BackupState) | undefined
  /** Whether the last applications were stored. */
  storage?: StorageState
  /** A clock in milliseconds. */
  now?: () => number
}

/** Whether applications can be stored, judged by the latest attempts. */
interface StorageState {
  /** Whether the database failed to store the last application. */
  isFailing: boolean
  /** When storing an application last timed out, by `performance.now()`; undefined if one was stored since. */
  lateAt?: number | undefined
}

/** The state of the backups, for monitoring; all null if none are made automatically. */
interface BackupHealth {
  /** The age of the newest complete backup; null if there is none. */
  newestBackupSeconds: number | null
  /** Since when backups fail, or erasures cannot be listed; null while both work. */
  backupsFailingSince: string | null
}

/** Whether a server is ready: with what is stuck, in numbers and in sentences, or the reason, in a few words. */
export type HealthState =
  | { isReady: true; numbers: DeliveryHealth & LetterHealth & BackupHealth; stuck: string[] }
  | { isReady: false; reason: string; error?: unknown }

/** The health of a server. */
export interface Health {
  /** Reads the state. Queries the database at most once a second, and never rejects. */
  read: () => Promise<HealthState>
  /** Whether applications can be stored. The server's inserts change it. */
  storage: StorageState
}

/** Milliseconds for which a response of the database is reused, however often the state is read. */
const freshness = 1_000
/** Timeout of the database, in milliseconds. */
const timeout = 2_000
/**
 * Milliseconds for which the server is not ready after storing an application timed out. A successful write of other rows
 * does not prove that applications can be stored: they may wait for a lock or for a standby.
 */
const unreadyAfterTimeout = 60_000

/**
 * Creates the health of a server: whether the database responds and stores applications, and whether deliveries to the webhook,
 * letters, the mail server or backups are stuck. The schedule of the backups reads their folder, so that a hanging folder does not
 * block it.
 */
export function createHealth(options: HealthOptions): Health {
  const { sql, delivers = false, areFilesGone, backups, now = () => performance.now() } = options
  const { storage = { isFailing: false } } = options

  const readNumbers = async (): Promise<DeliveryHealth & LetterHealth> => {
    // After a failure to store an application, only a successful write shows that the next one can be stored.
    if (storage.isFailing) await checkWritable(sql)
    storage.isFailing = false
    const [deliveries, letters] = await Promise.all([deliveryHealth(sql), letterHealth(sql)])
    return { ...deliveries, ...letters, ...(delivers ? {} : { oldestUndeliveredSeconds: null }) }
  }
  // Failures are cached too, so that a database that does not respond is not queried more often.
  const current = cached(
    () => within(timeout, readNumbers(), () => new Error(`no answer within ${timeout} ms`)),
    { cachesFailures: true, now },
  )

  return {
    storage,
    async read() {
      if (storage.lateAt !== undefined && now() - storage.lateAt < unreadyAfterTimeout)
        return { isReady: false, reason: 'the database stores nothing in time' }
      try {
        const numbers = { ...(await current(freshness)), ...backupHealth(backups?.()) }
        // Without a webhook, nobody can send what was given up.
        const relevant = delivers ? numbers : { ...numbers, deliveriesGivenUp: 0 }
        return { isReady: true, numbers, stuck: findStuck(relevant) }
      } catch (error) {
        if (areFilesGone?.()) return { isReady: false, reason: 'the files of the database are gone', error }
        const reason = storage.isFailing ? 'the database stores nothing' : 'the database does not answer'
        return { isReady: false, reason, error }
      }
    },
  }
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
