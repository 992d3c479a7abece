import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { OperatorError } from '../../settings/operator-error.ts'
import { startPolling } from '../polling.ts'
import { backupName, newestBackup, refuseForeignFolder, removeLeftovers, removeOldBackups } from './folder.ts'
import { oneMoment, writeBackup } from './backup.ts'
import { appendErasures } from './erasures.ts'
import { createFileWork, SilentError } from './file-work.ts'
import type { Pools } from '../database/pools.ts'
import type { Sql } from '../database/sql.ts'

export interface BackupSettings {
  /** Where backups are made; it has to be there. */
  dir: string
  /** The time of day, of this machine, at which a backup is made. */
  at: string
  /** How many backups are kept. */
  keep: number
  log: { info(details: object, message: string): void; error(details: object, message: string): void }
  now?: () => Date
  /** Milliseconds between two checks whether a backup is due. */
  interval?: number
}

/** The state of the backups, as far as this server knows. */
export interface BackupState {
  /** When the newest whole backup was made. */
  newestAt: Date | undefined
  /** Since when no backup can be made, or erasures cannot be listed. */
  failingSince: Date | undefined
}

/** Backups by themselves. */
export interface ScheduledBackups {
  state: () => BackupState
  /** Refuses a folder that others may write to. One that is not there, or does not answer, is told by the checks. */
  refuseForeign: () => Promise<void>
  /** Refuses a new database where there are backups of one: its disk may be missing. */
  beforeCreation: () => Promise<void>
  /** Makes a backup before the schema changes. An error is logged, and does not keep the schema from changing. */
  beforeMigration: (sql: Sql) => Promise<void>
  /** Makes a backup where the last one is older than a day, and from then on one a day. Lists what is erased. */
  start: (database: Pick<Pools, 'owner' | 'server'>) => void
  /** Breaks off a backup that is under way. */
  stop: () => Promise<void>
}

/** Any number that no other program's advisory lock on this database is likely to use. */
export const backupLock = 5_610_744
const day = 24 * 3_600_000
/** Milliseconds after which a backup that failed is tried again. */
const retryPause = 10 * 60_000
/** Milliseconds between two looks at what was erased. */
const erasuresInterval = 1_000
/** Milliseconds that another server's backup is waited for before the schema changes, and between two looks at it. */
const longestWait = 15 * 60_000
const waitPause = 1_000
/** Milliseconds for a backup that is broken off to tidy up. */
const grace = 3_000
/** The share of the time that a backup works while a server serves. */
const servingShare = 0.2

/**
 * The last moment up to now at which it was this time of day here. On a day that has the time twice, the first; on one
 * that leaves it out, as much later as the clocks were put on.
 *
 * @param at Hours and minutes, as in `03:00`.
 */
export function lastOccurrence(at: string, now: Date): Date {
  const [hours = 0, minutes = 0] = at.split(':').map(Number)
  const on = (daysAgo: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo, hours, minutes)
  const today = on(0)
  return today <= now ? today : on(1)
}

/** Makes backups in a folder, also where other servers of the same database do. */
export function createScheduledBackups(settings: BackupSettings): ScheduledBackups {
  const { dir, at, keep, log, now = () => new Date(), interval = 20_000 } = settings
  const startedAt = now()
  const ending = new AbortController()
  const files = createFileWork(dir)
  const state: BackupState = { newestAt: undefined, failingSince: undefined }
  const problems = new Map<string, { said: string; since: Date }>()
  /** How many erasures the list has, as far as this server knows. Each backup reads the list again. */
  let listed: number | undefined
  let looks: { stop: () => Promise<void> }[] = []

  /** An error that repeats is logged once. */
  const trying = async (what: string, act: () => Promise<unknown>) => {
    try {
      await act()
      problems.delete(what)
    } catch (error) {
      if (ending.signal.aborted) return
      const said = error instanceof Error ? error.message : String(error)
      const last = problems.get(what)
      const details = error instanceof OperatorError ? { problem: said } : { err: error }
      if (last?.said !== said) log.error(details, `${what} failed`)
      problems.set(what, { said, since: last?.since ?? now() })
    } finally {
      const times = [...problems.values()].map(({ since }) => since.getTime())
      state.failingSince = times.length === 0 ? undefined : new Date(Math.min(...times))
    }
  }

  /** Since when there has to be a backup. */
  const wanted = () => {
    const daily = lastOccurrence(at, now())
    return daily > startedAt ? daily : new Date(startedAt.getTime() - day)
  }

  /**
   * Writes a backup and removes old ones, unless another server is doing so.
   *
   * @returns Whether no other server was.
   */
  const make = (sql: Sql, isWanted: (installation: string | null) => Promise<boolean>, share?: number) =>
    sql.begin(oneMoment, async (transaction) => {
      const [lock] = await transaction<{ taken: boolean }[]>`
        select pg_try_advisory_xact_lock(${backupLock}) as taken`
      if (!lock?.taken) return false
      const installation = await installationOf(transaction)
      if (!(await isWanted(installation))) return true
      await files(() => removeLeftovers(dir, installation, now()))
      const createdAt = now()
      const folder = join(dir, backupName(createdAt))
      const { applications } = await writeBackup(transaction, folder, {
        scheduled: { installation },
        files,
        signal: ending.signal,
        now: () => createdAt,
        ...(share !== undefined && { share }),
      })
      const removed = await files(() => removeOldBackups(dir, keep, { installation, now: now() }))
      state.newestAt = createdAt
      listed = undefined
      log.info({ folder, applications, removed: removed.length }, 'backup made')
      return true
    })

  let failed: { error: unknown; retryAt: number } | undefined
  const look = async (sql: Sql) => {
    const isDue = async (installation: string | null) => {
      const newest = await files(async () => {
        await refuseForeignFolder(dir)
        return newestBackup(dir, { installation, now: now() })
      })
      state.newestAt = newest?.createdAt
      return newest === undefined || newest.createdAt < wanted()
    }
    if (!(await isDue(await installationOf(sql)))) return
    if (failed !== undefined && performance.now() < failed.retryAt) throw failed.error
    try {
      await make(sql, isDue, servingShare)
      failed = undefined
    } catch (error) {
      failed = { error, retryAt: performance.now() + retryPause }
      throw error
    }
  }

  return {
    state: () => state,
    async refuseForeign() {
      await files(() => refuseForeignFolder(dir)).catch((error: unknown) => {
        if (!(error instanceof SilentError)) throw error
      })
    },
    async beforeCreation() {
      const newest = await files(() => newestBackup(dir, { now: now() }))
      if (newest === undefined) return
      throw new OperatorError(
        `DATA_DIR has no database, but BACKUP_DIR ("${dir}") has backups of one: mount the disk of DATA_DIR, restore the newest (npm run restore -- --from "${newest.folder}"), or name another BACKUP_DIR to begin with an empty database.`,
      )
    },
    async beforeMigration(sql) {
      await trying('the backup before the schema changes', async () => {
        const deadline = performance.now() + longestWait
        const inAnyCase = async () => {
          await files(() => newestBackup(dir))
          return true
        }
        while (!(await make(sql, inAnyCase))) {
          if (performance.now() > deadline) throw new Error('another server is still making a backup')
          await wait(waitPause, undefined, { signal: ending.signal })
        }
      })
    },
    start({ owner, server }) {
      // From here on the checks tell.
      problems.clear()
      const backups = startPolling(
        () => trying('the backup', () => look(owner)),
        interval,
        () => {},
      )
      const erasures = startPolling(
        () =>
          trying('the list of erasures', async () => {
            const [row] = await server<
              [{ count: number }]
            >`select count(*)::int as count from private.erasures`
            if (row.count !== listed) listed = await appendErasures(server, dir, files)
          }),
        erasuresInterval,
        () => {},
      )
      looks = [backups, erasures]
    },
    async stop() {
      ending.abort()
      // Work that waits for a frozen database ends with its connections.
      const stopping = Promise.all(looks.map((each) => each.stop()))
      await Promise.race([stopping, wait(grace, undefined, { ref: false })])
    },
  }
}

/** The database's own name; none where its schema is older than that name. */
export async function installationOf(sql: Sql): Promise<string | null> {
  const [row] = await sql<
    { there: boolean }[]
  >`select to_regclass('private.installation') is not null as there`
  if (!row?.there) return null
  const [installation] = await sql<{ id: string }[]>`select id from private.installation`
  return installation?.id ?? null
}
