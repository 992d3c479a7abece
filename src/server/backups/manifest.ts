import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConnectionError, isDatabaseError } from '../database/connection/connection.ts'

import { table } from '../../application/application.ts'
import { OperatorError } from '../../settings/operator-error.ts'

/** The table of applications. */
export const applications = `public.${table}`
/** Tables of the desk and of letters, which older databases and backups lack. */
export const statuses = 'private.statuses'
export const history = 'private.history'
const letters = 'private.letters'
export const addresses = 'private.addresses'
export const deliveries = 'private.deliveries'
const editions = 'private.editions'
/**
 * Tables that may have rows in a new database, each with the columns of its key. A restored row replaces the row with the same
 * key.
 */
export const seededTables: Record<string, string> = {
  'private.door': 'is_only',
  'private.templates': 'name',
  'private.letter_settings': 'is_only',
  'private.postman': 'is_only',
  'private.installation': 'is_only',
  'private.places': 'is_only',
  'private.erasures': 'digest',
  [editions]: 'id',
  'private.retention': 'is_only',
  'private.visits': 'day, source',
  'private.page': 'is_only',
  'private.first_steps': 'is_only',
}
/** The columns of tables that are not backed up whole. Their other columns have a server's state, or the site's addresses. */
export const backupColumns: Record<string, string> = {
  'private.postman': 'is_only, stopped',
  'private.places': 'is_only, version, places, days, zone',
  'private.page':
    'is_only, version, title, tagline, badge, success, privacy_url, privacy_label, accent, cost, hear_back, about, shows_days, shows_venue, shows_closing',
  'private.first_steps': 'is_only, ticked',
}
/** The tables of the desk and of letters, in the order in which they can be restored. */
export const deskTables = [
  statuses,
  'private.marks',
  'private.seen_notes',
  'private.withdrawal_links',
  history,
  ...Object.keys(seededTables),
  letters,
  'private.invitations',
  addresses,
  'private.holds',
  deliveries,
  'private.failures',
  'private.questions',
  'private.question_answers',
]
/**
 * The tables of organisers, which are backed up if our own server manages the accounts. Sessions, codes, secrets of factors
 * and keys are left out. In a hosted project these tables are left out, too: the project owns the accounts, and rights mean
 * nothing without them.
 */
export const accounts = 'auth.users'
export const accountTables = [accounts, 'auth.identities', 'private.organisers']

/** Tables of older versions, which deliveries and invitations have replaced. */
export const olderTables: readonly string[] = [
  'private.webhook_outbox',
  'private.answer_outbox',
  'private.acceptances',
]

/** Conditions on the rows that are backed up. Notices and test emails are left out: a restore must not send them again. */
export const backupRows: Record<string, string> = {
  [deliveries]: "kind not in ('notice', 'test')",
}

/** Every table of a backup, in the order in which the tables can be restored. */
export const backupTables: readonly string[] = [applications, ...olderTables, ...deskTables, ...accountTables]

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
