import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { atTestEnd } from './cleanup.ts'
import { waitForExit, postmasterOf } from './postmaster.ts'

/** Milliseconds between SIGTERM and SIGKILL. */
const stopTimeout = 20_000

/**
 * Ends a program with the test that started it.
 *
 * @param dataDir The folder of the embedded database. A killed program leaves its database running.
 */
export function endWithTest(child: ChildProcess, dataDir?: string): void {
  const isRunning = () => child.exitCode === null && child.signalCode === null
  atTestEnd(async () => {
    if (isRunning()) {
      const exited = once(child, 'exit')
      const killTimer = setTimeout(() => child.kill('SIGKILL'), stopTimeout)
      child.kill('SIGTERM')
      // A frozen process receives the signal only after it continues.
      child.kill('SIGCONT')
      await exited
      clearTimeout(killTimer)
    }
    // A program that exited normally has stopped its database.
    if (dataDir !== undefined && child.exitCode === null) await endDatabase(dataDir)
  })
}

/** Ends the embedded database under a `DATA_DIR` at once, if it runs. */
export async function endDatabase(dataDir: string): Promise<void> {
  const pid = await postmasterOf(dataDir)
  if (pid === undefined) return
  process.kill(pid, 'SIGQUIT')
  process.kill(pid, 'SIGCONT')
  await waitForExit(pid)
}
