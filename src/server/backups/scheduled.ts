import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { startPolling } from '../polling.ts'
import {
  backupName,
  newestBackup,
  refuseFolderWritableByOthers,
  removeLeftovers,
  removeOldBackups,
  type FolderOptions,
} from './folder.ts'
import { snapshotMode, writeBackup, type BackupOptions } from './backup.ts'
import { appendErasures } from './erasure-list.ts'
import { createFileWork, FileTimeoutError } from './hanging-folder-queue.ts'
import { advisoryLocks } from '../database/connection/advisory-locks.ts'
import type { Pools } from '../database/connection/pools.ts'
import { schemaVersion } from '../database/schema/schema-state.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The settings of scheduled backups. */
export interface BackupSettings {
  /** The existing folder for backups. */
  dir: string
  /** The time of day when a backup is made, in this machine's time zone. */
  at: string
  /** The number of backups that are kept. */
  keep: number
  log: { info(details: object, message: string): void; error(details: object, message: string): void }
  now?: () => Date
  /** Milliseconds between two checks whether a backup is due. */
  interval?: number
}

/** The state of the backups, as far as this server knows. */
export interface BackupState {
  /** When the newest complete backup was made; undefined if none is known. */
  newestAt: Date | undefined
  /** When backups began to fail, or erasures could no longer be listed; undefined while both work. */
  failingSince: Date | undefined
}

/** The automatic backups of a server. */
export interface ScheduledBackups {
  state: () => BackupState
  /** Refuses a folder that others may write to. A folder that is missing or hangs is reported later, when a backup fails. */
  refuseForeign: () => Promise<void>
  /** Refuses to create a database if the folder has backups: the disk of the backed-up database may not be mounted. */
  beforeCreation: () => Promise<void>
  /** Refuses an empty database if the folder has only backups of another: a restore may have been killed. */
  beforeServing: (sql: Sql) => Promise<void>
  /**
   * Makes a backup before the schema changes, unless an operator has just made one. An error is logged, and the schema changes
   * anyway.
   */
  beforeMigration: (sql: Sql) => Promise<void>
  /** Makes a backup at once, as a server does, also if none is due. */
  makeNow: (sql: Sql) => Promise<void>
  /** Makes a backup if the last one is older than a day, and from then on each day. Appends erasures to the list. */
  start: (database: Pick<Pools, 'owner' | 'server'>) => void
  /** Stops the backups, and aborts a pending one. */
  stop: () => Promise<void>
}

/** The age in seconds from which a daily backup is overdue. */
export const overdueAfter = 25 * 3600

/** How a backup is made: `share` as in `BackupOptions`, `requested` as in the manifest. */
type BackupKind = Pick<BackupOptions, 'share'> & { requested?: boolean }

/** Decides in a backup's transaction whether the backup is due. */
type IsDue = (installation: string, transaction: Sql) => Promise<boolean>

const day = 24 * 3_600_000
/** Milliseconds before a failed backup is retried. */
const retryDelay = 10 * 60_000
/** Milliseconds between two checks for new erasures. */
const erasuresInterval = 1_000
/** Milliseconds to wait for another server's backup before the schema changes, and between two tries to begin our own. */
const maxWait = 15 * 60_000
const waitInterval = 1_000
/**
 * Milliseconds after its beginning for which an operator's backup counts as the one before an update, so that the server makes no
 * second one while nobody can apply. Going back loses what came after a backup: so the time is short, and no other backup counts.
 */
const recentFor = 5 * 60_000
/** Milliseconds for an aborted backup to clean up. */
const grace = 3_000
/** The share of the time in which a backup works while its server handles requests. */
const servingShare = 0.2

/**
 * The last moment, up to `now`, at which this machine's clock showed a time of day. If the clock is put back and shows the
 * time twice, the first moment counts. If the clock is put forward and skips the time, the moment is later by as much as the
 * clock was put forward.
 *
 * @param at Hours and minutes, as in `03:00`.
 */
export function lastOccurrence(at: string, now: Date): Date {
  const [hours = 0, minutes = 0] = at.split(':').map(Number)
  const momentOn = (daysAgo: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo, hours, minutes)
  const today = momentOn(0)
  return today <= now ? today : momentOn(1)
}

/** Makes backups in a folder that other servers of the same database may use too. */
export function createScheduledBackups(settings: BackupSettings): ScheduledBackups {
  const { dir, at, keep, log, now = () => new Date(), interval = 20_000 } = settings
  const startedAt = now()
  const abortController = new AbortController()
  const runFileWork = createFileWork(dir)
  const state: BackupState = { newestAt: undefined, failingSince: undefined }
  const problems = new Map<string, { message: string; since: Date }>()
  /** The number of erasures in the list, as far as this server knows. A backup resets it, so that the list is read again. */
  let listedErasures: number | undefined
  let pollings: { stop: () => Promise<void> }[] = []

  /** Runs work. Logs an error once, even if it repeats. */
  const attempt = async (name: string, work: () => Promise<unknown>) => {
    try {
      await work()
      problems.delete(name)
    } catch (error) {
      if (abortController.signal.aborted) return
      const message = error instanceof Error ? error.message : String(error)
      const lastProblem = problems.get(name)
      const details = error instanceof OperatorError ? { problem: message } : { err: error }
      if (lastProblem?.message !== message) log.error(details, `${name} failed`)
      problems.set(name, { message, since: lastProblem?.since ?? now() })
    } finally {
      const times = [...problems.values()].map(({ since }) => since.getTime())
      state.failingSince = times.length === 0 ? undefined : new Date(Math.min(...times))
    }
  }

  /** A backup is due if the newest was made before this moment. */
  const dueSince = () => {
    const daily = lastOccurrence(at, now())
    if (daily > startedAt) return daily
    // The clock may have been ahead at the start, and set back since.
    return new Date(Math.min(startedAt.getTime(), now().getTime()) - day)
  }

  /**
   * Writes a backup if one is due, and removes old ones.
   *
   * @returns False if nothing was done, because another server is making a backup.
   */
  const makeBackup = (sql: Sql, isDue: IsDue, { share, requested }: BackupKind = {}) => {
    // Before the snapshot: what is stored later is not in the backup (docs/operate.md#go-back).
    const createdAt = now()
    return sql.begin(snapshotMode, async (transaction) => {
      const [lock] = await transaction<{ is_taken: boolean }[]>`
        select pg_try_advisory_xact_lock(${advisoryLocks.backup}) as is_taken`
      if (!lock?.is_taken) return false
      const installation = await readInstallation(transaction)
      if (!(await isDue(installation, transaction))) return true
      await runFileWork(() => removeLeftovers(dir, installation, now()))
      const folder = join(dir, backupName(createdAt))
      const { applications } = await writeBackup(transaction, folder, {
        scheduled: { installation, ...(requested && { requested }) },
        runFileWork,
        signal: abortController.signal,
        now: () => createdAt,
        ...(share !== undefined && { share }),
      })
      const removed = await runFileWork(() => removeOldBackups(dir, keep, { installation, now: now() }))
      state.newestAt = createdAt
      listedErasures = undefined
      log.info({ folder, applications, removed: removed.length }, 'backup made')
      return true
    })
  }

  /** Like `makeBackup`, but waits for another server's backup. */
  const makeInTurn = async (sql: Sql, isDue: IsDue, kind?: BackupKind) => {
    const deadline = performance.now() + maxWait
    while (!(await makeBackup(sql, isDue, kind))) {
      if (performance.now() > deadline) throw new Error('another server is still making a backup')
      await wait(waitInterval, undefined, { signal: abortController.signal })
    }
  }

  let reportedAt: number | undefined
  /** Reports the newest backup to the desk. */
  const report = async (sql: Sql) => {
    const { newestAt } = state
    if (newestAt === undefined || newestAt.getTime() === reportedAt) return
    await sql`update private.first_steps set backed_up_at = ${newestAt}`
    reportedAt = newestAt.getTime()
  }

  let lastFailure: { error: unknown; retryAt: number } | undefined
  const makeIfDue = async (sql: Sql) => {
    const isDue = async (installation: string) => {
      const newest = await runFileWork(async () => {
        await refuseFolderWritableByOthers(dir)
        return newestBackup(dir, { installation, now: now() })
      })
      state.newestAt = newest?.createdAt
      return newest === undefined || newest.createdAt < dueSince()
    }
    if (!(await isDue(await readInstallation(sql)))) return report(sql)
    if (lastFailure !== undefined && performance.now() < lastFailure.retryAt) throw lastFailure.error
    try {
      await makeBackup(sql, isDue, { share: servingShare })
      lastFailure = undefined
      await report(sql)
    } catch (error) {
      lastFailure = { error, retryAt: performance.now() + retryDelay }
      throw error
    }
  }

  return {
    state: () => state,
    async refuseForeign() {
      await runFileWork(() => refuseFolderWritableByOthers(dir)).catch((error: unknown) => {
        if (!(error instanceof FileTimeoutError)) throw error
      })
    },
    async beforeCreation() {
      const newest = await runFileWork(() => newestBackup(dir, { now: now() }))
      if (newest === undefined) return
      throw new OperatorError(
        `DATA_DIR has no database, but BACKUP_DIR ("${dir}") has backups of one: mount the disk of DATA_DIR, restore the newest (${commandLine('restore', `--from "${newest.folder}"`)}), or name another BACKUP_DIR to begin with an empty database.`,
      )
    },
    async beforeServing(sql) {
      const [row] = await sql<[{ is_empty: boolean }]>`
        select not exists (select from public.retreat_applications)
          and not exists (select from private.organisers) as is_empty`
      if (!row.is_empty) return
      const installation = await readInstallation(sql)
      // A folder that cannot be read is reported later.
      const find = (options: FolderOptions) =>
        runFileWork(() => newestBackup(dir, { ...options, now: now() })).catch(() => undefined)
      const newest = await find({})
      if (newest === undefined || (await find({ installation })) !== undefined) return
      throw new OperatorError(
        `The database in DATA_DIR is empty, but BACKUP_DIR ("${dir}") has backups of another, so a restore may have been interrupted: restore the newest (${commandLine('restore', `--from "${newest.folder}"`)}), or name another BACKUP_DIR to begin with an empty database.`,
      )
    },
    async beforeMigration(sql) {
      await attempt('the backup that precedes an update', () =>
        makeInTurn(sql, async (installation, transaction) => {
          // Throws a sentence for the operator if the folder cannot be read.
          const newest = await runFileWork(() => newestBackup(dir, { installation, now: now() }))
          const age = newest && now().getTime() - newest.createdAt.getTime()
          const isRecent = age !== undefined && age >= 0 && age < recentFor
          // The former version could not restore a backup of another schema.
          const isUsable =
            isRecent && newest?.isRequested && newest.schema === (await schemaVersion(transaction))
          if (isUsable) log.info({ folder: newest?.folder }, 'a recent backup precedes the update')
          return !isUsable
        }),
      )
    },
    async makeNow(sql) {
      const isDue = async () => {
        await runFileWork(() => newestBackup(dir))
        return true
      }
      await makeInTurn(sql, isDue, { requested: true })
    },
    start({ owner, server }) {
      // Problems from before the start are dropped: the polling below reports those that still exist.
      problems.clear()
      const backups = startPolling(
        () => attempt('the backup', () => makeIfDue(owner)),
        interval,
        () => {},
      )
      const erasures = startPolling(
        () =>
          attempt('the list of erasures', async () => {
            const [row] = await server<
              [{ count: number }]
            >`select count(*)::int as count from private.erasures`
            if (row.count !== listedErasures) listedErasures = await appendErasures(server, dir, runFileWork)
          }),
        erasuresInterval,
        () => {},
      )
      pollings = [backups, erasures]
    },
    async stop() {
      abortController.abort()
      // The wait is limited: work on a frozen database ends only when its connections end.
      const stopping = Promise.all(pollings.map((each) => each.stop()))
      await Promise.race([stopping, wait(grace, undefined, { ref: false })])
    },
  }
}

/**
 * Reads the id by which a database's servers recognise its backups. A restore replaces this id with the backup's, unlike the id in
 * `database-id.ts`.
 */
export async function readInstallation(sql: Sql): Promise<string> {
  const [row] = await sql<[{ id: string }]>`select id from private.installation`
  return row.id
}
