import { setTimeout as wait } from 'node:timers/promises'

/** The default timeout of a wait, in milliseconds. */
const defaultTimeout = 60_000
/** Milliseconds between two checks, which leave the processor to the awaited work. */
const pause = 10

/**
 * Polls until a condition is true. For conditions without an event.
 *
 * @param what Describes the awaited thing in the error message. A function describes what is known once the time is over.
 * @param holds Whether the condition is true. A failure counts as false.
 * @param timeout The timeout in milliseconds.
 * @throws {Error} The condition did not become true in time. The cause is the last failure.
 */
export async function until(
  what: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  timeout = defaultTimeout,
): Promise<void> {
  const end = performance.now() + timeout
  for (let failure: unknown; ;) {
    try {
      failure = undefined
      if (await holds()) return
    } catch (error) {
      failure = error
    }
    if (performance.now() > end)
      throw new Error(`${timeout / 1000} s passed without ${typeof what === 'string' ? what : what()}.`, {
        cause: failure,
      })
    await wait(pause)
  }
}
