import { readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

import { until } from './until.ts'

/** The process id of the embedded database under a `DATA_DIR`, or undefined if the database does not run. */
export async function postmasterOf(dataDir: string): Promise<number | undefined> {
  const content = await readFile(join(dataDir, 'pgdata', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(content, 10)
  // The file may survive the process, and another process may get the same id.
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  return directory.endsWith('/pgdata') ? pid : undefined
}

/** Resolves when a process has ended. A zombie counts as ended: in a container without an init, nobody reaps it. */
export async function waitForExit(pid: number): Promise<void> {
  const hasEnded = async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
    return /\) (\w)/.exec(stat)?.[1] === 'Z'
  }
  await until(`the end of process ${pid}`, hasEnded)
}
