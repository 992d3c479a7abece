import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Where temporary folders go: in memory, where a copy of a database takes a fifth of the time, if there is room. */
export function temporaryPlace(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 4 * 2 ** 30 ? memory : tmpdir()
}
