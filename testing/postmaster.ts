import { readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

import { until } from './until.ts'

/** The main process of the embedded database under a `DATA_DIR`; undefined where none runs. */
export async function postmasterOf(dataDir: string): Promise<number | undefined> {
  const content = await readFile(join(dataDir, 'pgdata', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(content, 10)
  // The file stays behind when the process dies, and its number can be another process's then.
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  return directory.endsWith('/pgdata') ? pid : undefined
}

/** Resolves when a process has ended. One that was killed and that nobody reaps, as in a container without an init, has. */
export async function gone(pid: number): Promise<void> {
  const hasEnded = async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
    return /\) (\w)/.exec(stat)?.[1] === 'Z'
  }
  await until(`the end of process ${pid}`, hasEnded)
}
