import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds for which something is awaited before it counts as never coming. */
const longest = 60_000
/** Milliseconds between two looks, so that what is awaited has the processor meanwhile. */
const pause = 10

/**
 * Waits for what nothing announces, by looking again and again.
 *
 * @param what It, in words.
 * @param holds Whether it is there. A failure counts as no.
 * @throws {Error} where it does not come; its cause is the last failure.
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
