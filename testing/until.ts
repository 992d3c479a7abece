import { setTimeout as wait } from 'node:timers/promises'

/** The timeout of a wait, in milliseconds. */
const longest = 60_000
/** Milliseconds between two checks, so that the awaited work gets the processor. */
const pause = 10

/**
 * Polls for something that sends no event.
 *
 * @param what Its description.
 * @param holds Whether it is there. A failure counts as no.
 * @throws {Error} It did not appear. The cause is the last failure.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + longest
  for (let failure: unknown; ;) {
    try {
      failure = undefined
      if (await holds()) return
    } catch (error) {
      failure = error
    }
    if (performance.now() > end)
      throw new Error(`${longest / 1000} s passed without ${what}.`, { cause: failure })
    await wait(pause)
  }
}
