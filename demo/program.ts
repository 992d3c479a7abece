import { once } from 'node:events'

import { runProgram } from '../src/settings/operator-error.ts'

/** The run of a program that a signal stops. */
export interface Run {
  /** Aborted when a signal stops the program. */
  signal: AbortSignal
  /** Resolves when a signal stops the program. */
  stopped: Promise<unknown>
  /** Adds a step to the end of the program. The last one added runs first. */
  atEnd: (undo: () => Promise<unknown>) => void
}

/**
 * Runs a program until it ends or a signal stops it, then undoes what it did, and exits.
 *
 * @param farewell The last line of a program that a signal stopped.
 */
export async function runUntilStopped(main: (run: Run) => Promise<void>, farewell: string): Promise<never> {
  const stopping = new AbortController()
  const { signal } = stopping
  const stopped = once(signal, 'abort')
  const stop = () => stopping.abort()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  // The parent process, if it has a channel to this one, has ended.
  process.on('disconnect', stop)
  // When the terminal closes, writing causes an error.
  for (const output of [process.stdout, process.stderr]) output.on('error', stop)

  const cleanups: (() => Promise<unknown>)[] = []
  await runProgram(async () => {
    try {
      await main({ signal, stopped, atEnd: (undo) => cleanups.push(undo) })
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      for (const undo of cleanups.toReversed()) await undo()
      if (signal.aborted) console.log(farewell)
    }
  })
  process.exit()
}
