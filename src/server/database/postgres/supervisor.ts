import { setTimeout as wait } from 'node:timers/promises'

import { OperatorError } from '../../../settings/operator-error.ts'
import { ensureCluster, MissingDatabaseError, type Cluster } from './cluster.ts'
import { folder, trimLog } from './start-stop.ts'
import { acquireLock, announceStop, renameHolder, unlock } from './holder-lock.ts'
import { ConnectionError, isDatabaseError, type Connection } from '../connection/connection.ts'

/** The options with which a server or a command holds the embedded database. */
export interface DatabaseHoldOptions {
  /** The server's name, which a refused second server is shown: only one may use the database. A command has no name. */
  holder?: string
  /** Whether the database may be created if there is none; never during a recovery. */
  create: boolean
  /** The folder of PostgreSQL's programs; default the one from npm. */
  programs?: string | undefined
  /** Called before the database is created, and may throw. */
  beforeCreation?: () => Promise<void>
  /** Called with events of the database while it is held. */
  onEvent?: (message: string) => void
  /**
   * Milliseconds to wait for a database that cannot be used yet, because it is starting or stopping. The default is 100
   * seconds.
   */
  patience?: number
}

/** The use of the embedded database by one server or command. It keeps the database running. */
export interface DatabaseHold {
  /** Whether the database had to be started for this hold. */
  started: boolean
  /** Whether the database was created for this hold. */
  isNew: boolean
  /** Whether the database was lost and its files are gone, such as when their disk was unmounted. */
  areFilesGone: () => boolean
  /** Changes the name under which this hold is shown to others. */
  rename: (holder: string) => void
  /** Tells another server, which is starting, that this server is about to stop. */
  announceEnd: () => void
  /**
   * Ends the hold, and stops the database unless somebody else uses it.
   *
   * @param how `and remove` also removes a database that was created for this hold.
   */
  end: (how?: 'and remove') => Promise<void>
}

/** Milliseconds between two tries to use the database. During a recovery, they double after each try, up to the maximum. */
const retryPause = 250
const maxRetryPause = 10_000
/** Milliseconds between two checks of the length of PostgreSQL's log. */
const logInterval = 3_600_000
/** The default of `patience`, in milliseconds: how long the database may take to stop or start, for this or another process. */
const maxWait = 100_000
/** Milliseconds of waiting after which a message reports it. */
const reportAfter = 3_000
/** Milliseconds that a pending recovery may still take when the hold ends. */
const recoveryGrace = 5_000

/**
 * Runs the embedded database until the hold ends. For a server, it is restarted whenever it dies. If its files are gone, it is
 * restarted when they are back.
 *
 * @throws {OperatorError} if it cannot run, is missing and may not be created, or is held by another server.
 */
export async function supervise(
  dataDir: string,
  {
    holder: initialHolder,
    create,
    beforeCreation,
    programs,
    onEvent = () => {},
    patience = maxWait,
  }: DatabaseHoldOptions,
): Promise<DatabaseHold> {
  const ending = new AbortController()
  let holder = initialHolder
  let mayCreate = create
  let recovering: Promise<void> | undefined
  let areFilesGone = false
  let cluster: Cluster
  let remove: Cluster['remove']
  let started = false
  let lock: Connection | undefined

  const ensureRunning = async () => {
    cluster = await ensureCluster(dataDir, mayCreate, { programs, beforeCreation, signal: ending.signal })
    // A database exists from now on: never create an empty one in its place.
    mayCreate = false
    remove ??= cluster.remove
    started ||= cluster.started
  }

  const acquire = async () => {
    lock = await acquireLock(dataDir, holder, () => {
      lock = undefined
      if (holder !== undefined && !ending.signal.aborted) recovering ??= recover()
    })
  }

  const acquireFirst = async () => {
    const began = performance.now()
    let isReported = false
    for (;;) {
      await ensureRunning()
      try {
        return await acquire()
      } catch (error) {
        if (error instanceof OperatorError) throw error
        // The database, or the server that holds it, is just stopping or starting.
        const waited = performance.now() - began
        const reason = reasonOf(error)
        if (waited > patience) {
          throw new OperatorError(
            `The database in DATA_DIR ("${dataDir}") could not be used for ${patience / 1000} s (${reason}): see its postgres.log, or stop what uses it.`,
            { cause: error },
          )
        }
        if (waited > reportAfter && !isReported) {
          isReported = true
          onEvent(`waiting for the database: ${reason}`)
        }
        await wait(retryPause)
      }
    }
  }

  const recover = async () => {
    onEvent('the database was lost; starting it again')
    let reported: string | undefined
    for (let pause = retryPause; !ending.signal.aborted; pause = Math.min(2 * pause, maxRetryPause)) {
      try {
        await ensureRunning()
        await acquire()
        areFilesGone = false
        onEvent('the database is back')
        break
      } catch (error) {
        areFilesGone = error instanceof MissingDatabaseError
        const reason = areFilesGone
          ? `DATA_DIR is "${dataDir}", whose database (${folder}) is gone: mount the disk that it is on, or put it back, and it is used again`
          : reasonOf(error)
        if (reason !== reported) onEvent(`the database is not back yet: ${reason}`)
        reported = reason
        await wait(pause, undefined, { signal: ending.signal }).catch(() => {})
      }
    }
    recovering = undefined
  }

  /**
   * Takes the lock again after the database was lost, since somebody else may have started it. Stops the database if it cannot be
   * reached.
   */
  const relock = async (name: string) => {
    try {
      return await acquireLock(dataDir, name, () => {})
    } catch (error) {
      if (error instanceof ConnectionError || isDatabaseError(error)) await cluster.stop()
      return undefined
    }
  }

  await acquireFirst()
  const trimming = setInterval(() => {
    trimLog(dataDir).catch((error: unknown) =>
      onEvent(`the database's log could not be truncated: ${String(error)}`),
    )
  }, logInterval)
  trimming.unref()
  return {
    started,
    isNew: remove !== undefined,
    areFilesGone: () => areFilesGone,
    rename(name) {
      holder = name
      if (lock !== undefined) renameHolder(lock, name)
    },
    announceEnd() {
      if (lock !== undefined && holder !== undefined) announceStop(lock, holder)
    },
    async end(how) {
      clearInterval(trimming)
      ending.abort()
      await Promise.race([recovering, wait(recoveryGrace, undefined, { ref: false })])
      const held = lock ?? (holder === undefined ? undefined : await relock(holder))
      if (held === undefined) return
      const isLastUser = await unlock(held)
      // The lock is held until the database is down, so that a starting server waits and then starts it again.
      try {
        if (isLastUser) await cluster.stop()
        if (isLastUser && how === 'and remove') await remove?.()
      } finally {
        await held.close(5_000)
      }
    },
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
