import { setTimeout as wait } from 'node:timers/promises'

import { OperatorError } from '../../settings/operator-error.ts'
import { ensureCluster, MissingError, type Cluster } from './cluster.ts'
import { folder, trimLog } from './files.ts'
import { acquireLock, announceLeaving, renameHolder, unlock } from './lock.ts'
import { ConnectionError, isDatabaseError, type Connection } from './connection.ts'

/** Who uses the embedded database, and how. */
export interface User {
  /** A server's name for itself: it is to have the database for itself, and another is told of it. */
  holder?: string
  /** Whether the database may be made where there is none; never while it is recovered. */
  create: boolean
  /** The folder of PostgreSQL's programs; of those that npm brings, unless given. */
  programs?: string | undefined
  /** Called before it is made, and may throw. */
  beforeCreation?: () => Promise<void>
  /** Called with what happened to the database while it was held. */
  onEvent?: (message: string) => void
  /** Milliseconds that a database which cannot be used is waited for; as long as one takes to stop or start unless given. */
  patience?: number
}

/** A hold on the embedded database. */
export interface Supervision {
  /** Whether the database had to be started for it. */
  started: boolean
  /** Whether the database was made for it. */
  isNew: boolean
  /** Whether the database was lost, and its files are not there, as when their disk was unmounted. */
  areFilesGone: () => boolean
  /** Gives a holder another name, under which others find it. */
  rename: (holder: string) => void
  /** Tells a server that comes meanwhile that this one is about to leave. */
  announceEnd: () => void
  /**
   * Ends the hold, and stops the database unless somebody else uses it.
   *
   * @param how `and remove` takes it away then, where it was made for this hold.
   */
  end: (how?: 'and remove') => Promise<void>
}

/** Milliseconds between two tries to use a database; recovery doubles them, up to so many. */
const retryPause = 250
const longestPause = 10_000
/** Milliseconds between looks at the length of PostgreSQL's log. */
const logInterval = 3_600_000
/** Milliseconds that the database may take to stop or to start, and that somebody else's doing so is waited for. */
const longest = 100_000
/** Milliseconds after which somebody who waits is told of it. */
const silence = 3_000
/** Milliseconds that a try to recover may go on when the hold ends. */
const lastTry = 5_000

/**
 * Runs the embedded database until the hold ends. For a holder, it is started again whenever it dies; where its files are
 * gone, when they are back.
 *
 * @throws {OperatorError} where it cannot run, is not there and may not be made, or is held by another server.
 */
export async function supervise(
  dataDir: string,
  { holder: firstName, create, beforeCreation, programs, onEvent = () => {}, patience = longest }: User,
): Promise<Supervision> {
  const ending = new AbortController()
  let holder = firstName
  let mayCreate = create
  let recovering: Promise<void> | undefined
  let areFilesGone = false
  let cluster: Cluster
  let remove: Cluster['remove']
  let started = false
  let lock: Connection | undefined

  const run = async () => {
    cluster = await ensureCluster(dataDir, mayCreate, { programs, beforeCreation, signal: ending.signal })
    // From now on there was a database: an empty one in its place would answer for it.
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
    let isTold = false
    for (;;) {
      await run()
      try {
        return await acquire()
      } catch (error) {
        if (error instanceof OperatorError) throw error
        // The database, or the server that holds it, is going down or coming up at this very moment.
        const waited = performance.now() - began
        const reason = reasonOf(error)
        if (waited > patience) {
          throw new OperatorError(
            `The database in DATA_DIR ("${dataDir}") could not be used for ${patience / 1000} s (${reason}): look into its postgres.log, or stop what uses it.`,
            { cause: error },
          )
        }
        if (waited > silence && !isTold) {
          isTold = true
          onEvent(`waiting for the database: ${reason}`)
        }
        await wait(retryPause)
      }
    }
  }

  const recover = async () => {
    onEvent('the database was lost; starting it again')
    let told: string | undefined
    for (let pause = retryPause; !ending.signal.aborted; pause = Math.min(2 * pause, longestPause)) {
      try {
        await run()
        await acquire()
        areFilesGone = false
        onEvent('the database is back')
        break
      } catch (error) {
        areFilesGone = error instanceof MissingError
        const reason = areFilesGone
          ? `DATA_DIR is "${dataDir}", whose database (${folder}) is gone: mount the disk that it is on, or put it back, and it is used again`
          : reasonOf(error)
        if (reason !== told) onEvent(`the database is not back yet: ${reason}`)
        told = reason
        await wait(pause, undefined, { signal: ending.signal }).catch(() => {})
      }
    }
    recovering = undefined
  }

  /** The lock of a database that was lost, which somebody else may have started since. One that nobody can reach is stopped. */
  const lockAgain = async (name: string) => {
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
      onEvent(`the database's log could not be cut: ${String(error)}`),
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
      if (lock !== undefined && holder !== undefined) announceLeaving(lock, holder)
    },
    async end(how) {
      clearInterval(trimming)
      ending.abort()
      await Promise.race([recovering, wait(lastTry, undefined, { ref: false })])
      const held = lock ?? (holder === undefined ? undefined : await lockAgain(holder))
      if (held === undefined) return
      const alone = await unlock(held)
      // The lock is kept until the database is down, so that whoever comes now waits and then starts it again.
      try {
        if (alone) await cluster.stop()
        if (alone && how === 'and remove') await remove?.()
      } finally {
        await held.close(5_000)
      }
    },
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
