/** A loop that polls for work until it is stopped. */
export interface Polling {
  /** Polls now, or once more after the pending poll. Call it when new work may be due. */
  wake: () => void
  /** Stops polling. Resolves when the pending poll has ended. */
  stop: () => Promise<void>
}

/**
 * Heartbeat interval, and interval of other upkeep, in milliseconds. The desk treats a server as offline after three missed
 * heartbeats.
 */
export const upkeepInterval = 20_000

/**
 * Polls for work at once, at intervals and whenever `wake` is called, one poll at a time.
 *
 * @param poll Handles due work. May call `wake` if more work may be due.
 * @param interval Milliseconds between two polls.
 * @param onError Receives the error of a failed poll.
 */
export function startPolling(
  poll: () => Promise<void>,
  interval: number,
  onError: (error: unknown) => void,
): Polling {
  let isStopped = false
  let isWanted = false
  let polling: Promise<void> | undefined

  const pollWhileWanted = async () => {
    while (isWanted && !isStopped) {
      isWanted = false
      await poll()
    }
  }
  const wake = () => {
    if (isStopped) return
    isWanted = true
    polling ??= pollWhileWanted()
      .catch(onError)
      .finally(() => {
        polling = undefined
        // `wake` was called after the loop had ended, or during a poll that failed.
        if (isWanted) wake()
      })
  }

  const timer = setInterval(wake, interval)
  wake()

  return {
    wake,
    async stop() {
      isStopped = true
      clearInterval(timer)
      await polling
    },
  }
}
