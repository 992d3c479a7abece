import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConnectionError, isDatabaseError } from '../database/connection/connection.ts'

import { OperatorError } from '../../settings/operator-error.ts'

/** A backup's manifest. It is written last, so that a backup without it is incomplete. */
export interface Manifest {
  format: 1
  createdAt: string
  /** The newest migration of the database that was backed up. */
  schema: string
  /** The time zone of the times in the files. */
  timeZone: 'UTC'
  /**
   * Set if a server made the backup automatically. `installation` is the id of the database whose servers may remove the
   * backup. `requested` is set if an operator asked for it.
   */
  scheduled?: { installation: string; requested?: boolean }
  /** The files by name. */
  files: Record<string, { rows: number; sha256: string; bytes: number }>
}

/** The name of the manifest, and of the file of a table. */
export const manifestName = 'manifest.json'
export const fileOf = (name: string) => `${name}.jsonl`

/**
 * Reads a folder's manifest.
 *
 * @throws {OperatorError} if the folder is not a backup that this version can read.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const names = await readdir(folder)
  if (!names.includes(manifestName)) {
    throw new OperatorError(
      `The folder "${folder}" is not a whole backup: it has no ${manifestName}, which is written last.`,
    )
  }
  await checkRegular(join(folder, manifestName))
  const manifest: unknown = JSON.parse(await readFile(join(folder, manifestName), 'utf8'))
  const { format } = isObject(manifest) ? manifest : {}
  if (typeof format === 'number' && format !== 1) {
    throw new OperatorError(`The folder "${folder}" is a backup of a format that this version does not read.`)
  }
  if (isManifest(manifest)) return manifest
  throw new OperatorError(
    `The folder "${folder}" is not a whole backup: its ${manifestName} was changed since the backup was written.`,
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Whether a value has the keys that every release writes. */
function isManifest(value: unknown): value is Manifest {
  return (
    isObject(value) &&
    value['format'] === 1 &&
    typeof value['createdAt'] === 'string' &&
    typeof value['schema'] === 'string' &&
    value['timeZone'] === 'UTC' &&
    isObject(value['files']) &&
    Object.values(value['files']).every(isObject)
  )
}

/**
 * Refuses anything but a regular file: reading a pipe can block, reading a device may never end, and a link may point anywhere.
 */
export async function checkRegular(path: string): Promise<void> {
  if ((await lstat(path)).isFile()) return
  throw new OperatorError(`"${path}" is not a regular file: a backup has only regular files.`)
}

/** Turns an error of a backup or a restore into a sentence for the operator. Returns any other error unchanged. */
export function backupFailure(error: unknown, folder: string): unknown {
  // A lost connection may have the network's code, such as ECONNRESET.
  if (error instanceof OperatorError || error instanceof ConnectionError) return error
  const isFileError = error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  if (isFileError) {
    const hint =
      error.code === 'EROFS'
        ? ' If systemd runs the server, its unit has to name the folder in ReadWritePaths.'
        : ''
    return new OperatorError(`The folder "${folder}" cannot be used (${error.message}).${hint}`, {
      cause: error,
    })
  }
  // SQLSTATE classes 22 and 23: values that do not fit. 42703: columns that do not exist.
  const isFromDatabase = isDatabaseError(error)
  if (error instanceof SyntaxError || (isFromDatabase && /^(22|23|42703)/.test(error.code))) {
    return new OperatorError(`The folder "${folder}" is not a whole backup (${error.message}).`, {
      cause: error,
    })
  }
  if (!isFromDatabase) return error
  return new OperatorError(`The database refused (${error.message}): nothing was written or restored.`, {
    cause: error,
  })
}
