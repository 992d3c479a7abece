import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { atEnd } from './endings.ts'
import { gone, postmasterOf } from './postmaster.ts'

/** Milliseconds after which a program that was told to stop is killed. */
const longestStop = 20_000

/**
 * Ends a program with the test that started it.
 *
 * @param dataDir Where the embedded database is that it may leave running, if it has one.
 */
export function endWithTest(child: ChildProcess, dataDir?: string): void {
  const isRunning = () => child.exitCode === null && child.signalCode === null
  atEnd(async () => {
    if (isRunning()) {
      const exited = once(child, 'exit')
      const killing = setTimeout(() => child.kill('SIGKILL'), longestStop)
      child.kill('SIGTERM')
      // A frozen one is told when it is woken up.
      child.kill('SIGCONT')
      await exited
      clearTimeout(killing)
    }
    // A program that exited has stopped its database.
    if (dataDir !== undefined && child.exitCode === null) await endDatabase(dataDir)
  })
}

/** Ends the embedded database that runs under a `DATA_DIR`, if one does, at once. */
export async function endDatabase(dataDir: string): Promise<void> {
  const pid = await postmasterOf(dataDir)
  if (pid === undefined) return
  process.kill(pid, 'SIGQUIT')
  process.kill(pid, 'SIGCONT')
  await gone(pid)
}
