import { setTimeout as wait } from 'node:timers/promises'
import type { Sql } from 'postgres'

import { OperatorError } from '../../settings/operator-error.ts'
import { ensureCluster, type Cluster } from './cluster.ts'
import { acquireLock, lockTimeout, releaseLock } from './lock.ts'

/** Who uses the embedded database, and how. */
export interface User {
  /** A server's name for itself: it is to have the database for itself, and another is told of it. */
  holder?: string
  /** Whether the database may be made where there is none. */
  create: boolean
  /** Called with what happened to the database while it was held. */
  onEvent?: (message: string) => void
}

const retryPause = 250

/**
 * Runs the embedded database until the returned function is called, which stops it unless somebody else uses
 * it. For a holder, it is started again whenever it dies.
 *
 * @throws {OperatorError} where it cannot run, is not there and may not be made, or is held by another server.
 */
export async function supervise(
  dataDir: string,
  { holder, create, onEvent = () => {} }: User,
): Promise<() => Promise<void>> {
  const released = new AbortController()
  let recovering: Promise<void> | undefined
  let cluster: Cluster
  let lock: Sql | undefined

  const acquire = async () => {
    for (const deadline = Date.now() + 2 * lockTimeout; ;) {
      cluster = await ensureCluster(dataDir, create)
      try {
        lock = await acquireLock(dataDir, holder, () => {
          lock = undefined
          if (holder !== undefined && !released.signal.aborted) recovering ??= recover()
        })
        return
      } catch (error) {
        // The database was going down, or is coming up, at this very moment.
        if (error instanceof OperatorError || Date.now() > deadline) throw error
        await wait(retryPause)
      }
    }
  }

  const recover = async () => {
    onEvent('the database was lost; starting it again')
    while (!released.signal.aborted) {
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
  return async () => {
    released.abort()
    await recovering
    if (lock === undefined) return
    const alone = await releaseLock(lock)
    // The lock is kept until the database is down, so that whoever comes now waits and then starts it again.
    await Promise.all([alone ? cluster.stop() : undefined, lock.end({ timeout: 5 })])
  }
}
