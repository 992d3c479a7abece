import { readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

import { until } from './until.ts'

/** The main process of the embedded database under a `DATA_DIR`, or undefined if none runs. */
export async function postmasterOf(dataDir: string): Promise<number | undefined> {
  const content = await readFile(join(dataDir, 'pgdata', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(content, 10)
  // The file survives the process, and another process may get its number.
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  return directory.endsWith('/pgdata') ? pid : undefined
}

/** Resolves when a process has ended. A zombie that nobody reaps has ended too, as in a container without an init. */
export async function waitForExit(pid: number): Promise<void> {
  const hasEnded = async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
    return /\) (\w)/.exec(stat)?.[1] === 'Z'
  }
  await until(`the end of process ${pid}`, hasEnded)
}
