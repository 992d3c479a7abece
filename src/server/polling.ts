/** Looks for work for as long as it runs. */
export interface Polling {
  /** Says that there may be something new. */
  wake: () => void
  /** Looks no more, and ends when the look under way has. */
  stop: () => Promise<void>
}

/**
 * Milliseconds between two looks at what is not urgent. Who is at work says so as often: three times before the desk takes
 * a server for gone.
 */
export const keepInterval = 20_000

/**
 * Looks for work at once, in intervals, and whenever it is woken; one look at a time.
 *
 * @param look Takes what there is. Who finds that there may be more wakes it again.
 * @param interval Milliseconds.
 * @param onError Told why a look failed.
 */
export function startPolling(
  look: () => Promise<void>,
  interval: number,
  onError: (error: unknown) => void,
): Polling {
  let stopped = false
  let isWanted = false
  let looking: Promise<void> | undefined

  const lookAgain = async () => {
    while (isWanted && !stopped) {
      isWanted = false
      await look()
    }
  }
  const wake = () => {
    if (stopped) return
    isWanted = true
    looking ??= lookAgain()
      .catch(onError)
      .finally(() => {
        looking = undefined
        // Woken in the moment between the last look and this one.
        if (isWanted) wake()
      })
  }

  const timer = setInterval(wake, interval)
  wake()

  return {
    wake,
    async stop() {
      stopped = true
      clearInterval(timer)
      await looking
    },
  }
}
