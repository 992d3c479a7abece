import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { newestVersion } from '../database/schema/migration-files.ts'
import { listBackups } from './folder.ts'
import { backupFailure, checkRegular, fileOf, readManifest, type Manifest } from './manifest.ts'
import { applications, backupTables } from './tables.ts'

/** A folder that passed `checkBackup`. */
export interface Backup {
  folder: string
  /** The tables in the folder. */
  tables: string[]
  manifest: Manifest
}

/**
 * Checks that a folder is a backup that this version can restore, before a database is created for it.
 *
 * @throws {OperatorError} if a file does not match the manifest, or a newer version made the backup.
 */
export async function checkBackup(folder: string): Promise<Backup> {
  await refuseFolderOfBackups(folder)
  try {
    const manifest = await readManifest(folder)
    if (manifest.schema > newestVersion) {
      throw new OperatorError(
        `The backup in "${folder}" was made by a newer version of this program: restore it with that version or a later one, or use a backup from before the update (docs/operate.md#go-back).`,
      )
    }
    // Older backups lack tables of today. Backups of hosted projects have no accounts.
    const tables = backupTables.filter(
      (name) => name === applications || manifest.files[fileOf(name)] !== undefined,
    )
    for (const name of tables.map(fileOf)) {
      const hash = createHash('sha256')
      await checkRegular(join(folder, name))
      for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk as Buffer)
      if (hash.digest('hex') === manifest.files[name]?.sha256) continue
      throw new OperatorError(
        `The folder "${folder}" is not a whole backup: ${name} was changed since the backup was written.`,
      )
    }
    return { folder, tables, manifest }
  } catch (error) {
    throw backupFailure(error, folder)
  }
}

/** Names the newest backup in a folder such as `BACKUP_DIR`, which is no backup itself. */
async function refuseFolderOfBackups(folder: string) {
  const newest = (await listBackups(folder).catch(() => [])).find(({ isWhole }) => isWhole)
  if (newest === undefined) return
  throw new OperatorError(
    `The folder "${folder}" holds backups, and is none itself: name one of them with --from. The newest is "${newest.folder}".`,
  )
}

/**
 * Reads the lines of a file. Since Node.js 24, `node:readline` also splits at U+2028, which JSON does not escape and
 * applicants may write.
 */
export async function* linesOf(file: string) {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
