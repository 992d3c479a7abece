import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { postmasterOf } from './postmaster.ts'

interface Program {
  child: ChildProcess
  dataDir: string | undefined
}

const running = new Set<Program>()

/** Remembers a program for as long as it runs, and the embedded database that it may leave behind. */
export function remember(child: ChildProcess, dataDir: string | undefined): void {
  const program = { child, dataDir }
  running.add(program)
  child.once('exit', (code) => {
    // Whoever ended by itself has tidied up.
    if (code !== null) running.delete(program)
  })
}

/** What runs now. */
export function runningPrograms(): ReadonlySet<unknown> {
  return new Set(running)
}

/** Ends what a test left running that failed or was cut off: all but these. */
export async function endAllBut(programs: ReadonlySet<unknown>): Promise<void> {
  for (const program of running) {
    if (programs.has(program)) continue
    const { child, dataDir } = program
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    if (dataDir !== undefined) await endDatabase(dataDir)
    running.delete(program)
  }
}

async function endDatabase(dataDir: string) {
  const pid = await postmasterOf(dataDir)
  if (pid !== undefined) process.kill(pid, 'SIGQUIT')
}
