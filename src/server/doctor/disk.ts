import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'

import { codeOf } from '../database/postgres/programs.ts'
import { notKnown, ok, wrong, wrongIf } from '../finding.ts'

/** Free bytes below which a busy evening may fill the disk, because PostgreSQL also writes its WAL there. */
const minFreeBytes = 2 ** 30
/** The number of further files that a file system should still allow, if it limits their number. */
const minFreeFiles = 5_000

/** The numbers that say how full a file system is. */
type Space = Pick<StatsFs, 'bavail' | 'bsize' | 'blocks' | 'ffree' | 'files'>

/**
 * Checks the free space of the embedded database's disk.
 *
 * @param dataDir Undefined if the database is elsewhere.
 */
export async function checkDisk(
  dataDir: string | undefined,
  read: (path: string) => Promise<Space> = (path) => statfs(path),
) {
  if (dataDir === undefined)
    return ok('The database is not in DATA_DIR: check the disk of the machine it is on.')
  let space: Space
  try {
    space = await read(dataDir)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return notKnown(`There is no ${dataDir} yet.`)
    return wrong(`DATA_DIR is "${dataDir}", which cannot be read (${codeOf(error)}).`)
  }
  const { bavail, bsize, blocks, ffree, files } = space
  const free = bavail * bsize
  const summary = `${gigabytes(free)} of ${gigabytes(blocks * bsize)} are free in ${dataDir}`
  return (
    wrongIf([
      free < minFreeBytes && `${summary}: make room, or no application can be stored one day.`,
      files > 0 &&
        ffree < minFreeFiles &&
        `Only ${ffree} more files can be created in ${dataDir}: remove some.`,
    ]) ?? ok(`${summary}.`)
  )
}

const gigabytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GB`
