import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { programsPackage } from '../../../src/server/database/postgres/programs.ts'
import { temporaryDirectory } from '../server.ts'

/** The prepared databases of former runs, by the digest of the files that they were made from. */
const cache = 'node_modules/.cache/unplugged-databases'
/** The number of prepared databases to keep. Each takes 90 MB. */
const kept = 4
/** The files and folders that decide what a prepared database contains. */
const sources = [
  'supabase/migrations',
  'supabase/schemas',
  'src/server/database',
  'test/support/prepare-databases.ts',
  'test/support/reset.ts',
  'test/support/setup/databases.ts',
  `node_modules/${programsPackage}/package.json`,
]

/**
 * Runs before tests of the database. Provides an empty database and one with the schema, which tests copy. Both are kept for later
 * runs, and copied from there: another run may remove them at any time.
 */
export default async function setup(): Promise<void> {
  if (process.env['PREPARED_DATABASE'] !== undefined) return
  const entry = join(cache, digestOfSources())
  const { path } = await temporaryDirectory()
  const [cluster, database] = [join(path, 'cluster'), join(path, 'database')]
  process.env['PREPARED_CLUSTER'] = cluster
  try {
    await copy(entry, path)
    await utimes(entry, new Date(), new Date())
  } catch {
    await rm(path, { recursive: true })
    await mkdir(path, { mode: 0o755 })
    // A run that copies needs none of these modules.
    const { prepareDatabases } = await import('../prepare-databases.ts')
    await prepareDatabases(cluster, database)
    await save(path, entry)
  }
  process.env['PREPARED_DATABASE'] = database
}

async function save(path: string, entry: string) {
  const temporary = join(cache, randomUUID())
  await mkdir(temporary, { recursive: true })
  await copy(path, temporary)
  // Another run may have saved the same.
  await rename(temporary, entry).catch(() => remove(temporary))
  const entries = (await readdir(cache)).map(async (name) => {
    const stats = await stat(join(cache, name)).catch(() => undefined)
    return { name, usedAt: stats?.mtimeMs ?? 0 }
  })
  const oldest = (await Promise.all(entries)).toSorted((a, b) => b.usedAt - a.usedAt).slice(kept)
  for (const { name } of oldest) await remove(join(cache, name))
}

/** Removes a folder under another name, so that a copy that has begun fails and is not incomplete. */
async function remove(path: string) {
  const renamed = join(cache, randomUUID())
  await rename(path, renamed).catch(() => {})
  await rm(renamed, { recursive: true, force: true })
}

/** Copies both databases at the same time. If it fails, no copying goes on. */
async function copy(from: string, to: string) {
  const folders = ['cluster', 'database'].map((name) => join(from, name))
  const copies = folders.map((folder) => promisify(execFile)('cp', ['-a', folder, to]))
  await Promise.allSettled(copies)
  await Promise.all(copies)
}

/** A digest of all that decides what a prepared database contains, and of the user, whom PostgreSQL's files belong to. */
function digestOfSources() {
  const digest = createHash('sha256').update(`${process.getuid?.()}`)
  for (const source of sources) {
    const isFolder = statSync(source).isDirectory()
    const names = isFolder ? readdirSync(source, { recursive: true, encoding: 'utf8' }) : ['']
    for (const name of names.filter((each) => !isFolder || /(?<!\.test)\.(sql|ts)$/.test(each)).toSorted()) {
      digest.update(`\0${join(source, name)}\0`).update(readFileSync(join(source, name)))
    }
  }
  return digest.digest('hex').slice(0, 32)
}
