import { setTimeout as wait } from 'node:timers/promises'

import { OperatorError } from '../../settings/operator-error.ts'
import { ensureCluster, type Cluster } from './cluster.ts'
import { trimLog } from './files.ts'
import { acquireLock, announceLeaving, unlock } from './lock.ts'
import type { Connection } from './connection.ts'

/** Who uses the embedded database, and how. */
export interface User {
  /** A server's name for itself: it is to have the database for itself, and another is told of it. */
  holder?: string
  /** Whether the database may be made where there is none. */
  create: boolean
  /** The folder of PostgreSQL's programs; of those that npm brings, unless given. */
  programs?: string | undefined
  /** Called with what happened to the database while it was held. */
  onEvent?: (message: string) => void
  /** Milliseconds that a database which cannot be used is waited for; as long as one takes to stop or start unless given. */
  patience?: number
}

/** A hold on the embedded database. */
export interface Supervision {
  /** Whether the database had to be started for it. */
  started: boolean
  /** Tells a server that comes meanwhile that this one is about to leave. */
  announceEnd: () => void
  /**
   * Ends the hold, and stops the database unless somebody else uses it.
   *
   * @param how `and remove` takes it away then, where it was made for this hold.
   */
  end: (how?: 'and remove') => Promise<void>
}

const retryPause = 250
/** Milliseconds between looks at the length of PostgreSQL's log. */
const logInterval = 3_600_000
/** Milliseconds that the database may take to stop or to start, and that somebody else's doing so is waited for. */
const longest = 100_000
/** Milliseconds after which somebody who waits is told of it. */
const silence = 3_000

/**
 * Runs the embedded database until the hold ends. For a holder, it is started again whenever it dies.
 *
 * @throws {OperatorError} where it cannot run, is not there and may not be made, or is held by another server.
 */
export async function supervise(
  dataDir: string,
  { holder, create, programs, onEvent = () => {}, patience = longest }: User,
): Promise<Supervision> {
  const ending = new AbortController()
  let recovering: Promise<void> | undefined
  let cluster: Cluster
  let remove: Cluster['remove']
  let started = false
  let lock: Connection | undefined

  const acquire = async () => {
    const began = performance.now()
    let isTold = false
    for (;;) {
      cluster = await ensureCluster(dataDir, create, { programs })
      remove ??= cluster.remove
      started ||= cluster.started
      try {
        lock = await acquireLock(dataDir, holder, () => {
          lock = undefined
          if (holder !== undefined && !ending.signal.aborted) recovering ??= recover()
        })
        return
      } catch (error) {
        if (error instanceof OperatorError) throw error
        // The database, or the server that holds it, is going down or coming up at this very moment.
        const waited = performance.now() - began
        const reason = error instanceof Error ? error.message : String(error)
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
    while (!ending.signal.aborted) {
      try {
        await acquire()
        onEvent('the database is back')
        break
      } catch (error) {
        onEvent(`the database is not back yet: ${error instanceof Error ? error.message : String(error)}`)
        await wait(2 * retryPause)
      }
    }
    recovering = undefined
  }

  await acquire()
  const trimming = setInterval(() => {
    trimLog(dataDir).catch((error: unknown) =>
      onEvent(`the database's log could not be cut: ${String(error)}`),
    )
  }, logInterval)
  trimming.unref()
  return {
    started,
    announceEnd() {
      if (lock !== undefined && holder !== undefined) announceLeaving(lock, holder)
    },
    async end(how) {
      clearInterval(trimming)
      ending.abort()
      await recovering
      // It is gone when its connection is.
      const held = lock
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
