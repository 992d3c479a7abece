import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import postgres, { type Sql, type TransactionSql } from 'postgres'

import { table } from '../../application/application.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { newestVersion, ownerOfAuth, schemaVersion } from './schema.ts'

/** What is kept, in the order in which it can be put back. */
const applications = `public.${table}`
const tables = [applications, 'private.webhook_outbox']
/** What organisers made of them. Databases and backups of before there was a desk, or letters, have none of it. */
const statuses = 'private.statuses'
const history = 'private.history'
const letters = 'private.letters'
/** What a new database has rows of, and the key of each: they are put back over those. */
const furniture: Record<string, string> = {
  'private.door': 'is_only',
  'private.templates': 'occasion',
  'private.letter_settings': 'is_only',
  'private.postman': 'is_only',
}
/** Of these tables only some columns are kept: the others say what servers were doing. */
const keptColumns: Record<string, string> = { 'private.postman': 'is_only, stopped' }
const deskTables = [statuses, history, ...Object.keys(furniture), letters]
/**
 * What is kept of the organisers where their accounts are ours: no sessions, codes, factors' secrets or keys. Of a
 * hosted project nothing is: the accounts are the project's, and rights mean nothing without them.
 */
const accounts = 'auth.users'
const accountTables = [accounts, 'auth.identities', 'private.organisers']

/** Every table of which something is kept. */
export const keptTables: readonly string[] = [...tables, ...deskTables, ...accountTables]

/** What a backup says of itself. It is written last, so that a backup without it was cut off. */
interface Manifest {
  format: 1
  createdAt: string
  /** The newest migration of the database that it was made of. */
  schema: string
  /** By the name of each file. */
  files: Record<string, { rows: number; sha256: string }>
}

/** What a backup holds, and what came back of it. */
export interface Kept {
  applications: number
  /** None where there are none in the backup. */
  accounts: number
}

const manifestName = 'manifest.json'
const fileOf = (name: string) => `${name}.jsonl`

/** Rows that are read, and put back, in one go: enough to be quick, few enough to be small. */
const batchSize = 500

/**
 * Writes the tables into a new folder, as they stood at one moment, while others go on inserting: a JSON object a
 * line.
 *
 * @param sql Connections of the schema's owner.
 * @param folder It appears when it is complete and on the disk.
 * @returns What it holds.
 * @throws {OperatorError} where it is there already or cannot be written.
 */
export async function backUp(sql: Sql, folder: string): Promise<Kept> {
  if (await stat(folder).catch(() => undefined)) {
    throw new OperatorError(`The folder "${folder}" is there already: name a new one for each backup.`)
  }
  let partial: string | undefined
  try {
    await mkdir(dirname(folder), { recursive: true })
    // Nobody can have made it before, to read what is written into it: applicants' answers are nobody else's business.
    partial = await mkdtemp(`${folder}.`)
    const manifest = await writeTables(sql, partial)
    await writeDurably(join(partial, manifestName), `${JSON.stringify(manifest, null, 2)}\n`)
    await rename(partial, folder)
    const rowsOf = (name: string) => manifest.files[fileOf(name)]?.rows ?? 0
    return { applications: rowsOf(applications), accounts: rowsOf(accounts) }
  } catch (error) {
    // Where it cannot be removed either, the first error says more.
    if (partial !== undefined) await rm(partial, { recursive: true, force: true }).catch(() => {})
    throw unusable(error, folder)
  }
}

function writeTables(sql: Sql, folder: string): Promise<Manifest> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const files: Manifest['files'] = {}
    const isOurs = (await ownerOfAuth(transaction)) === 'us'
    for (const name of [...tables, ...deskTables, ...(isOurs ? accountTables : [])]) {
      const [row] = await transaction<{ there: boolean }[]>`select to_regclass(${name}) is not null as there`
      if (!row?.there) continue
      files[fileOf(name)] = await writeTable(transaction, name, folder)
    }
    return { format: 1, createdAt: new Date().toISOString(), schema: await schemaVersion(transaction), files }
  })
}

/** By a cursor: the driver never returns from a COPY whose reader fails. */
async function writeTable(transaction: TransactionSql, name: string, folder: string) {
  const file = await open(join(folder, fileOf(name)), 'wx', 0o600)
  const hash = createHash('sha256')
  let rows = 0
  try {
    const batches = transaction.unsafe<{ line: string }[]>(
      `select row_to_json(rows)::text as line from (select ${keptColumns[name] ?? '*'} from ${name}) as rows`,
    )
    for await (const batch of batches.cursor(batchSize)) {
      const text = batch.map(({ line }) => `${line}\n`).join('')
      hash.update(text)
      rows += batch.length
      await file.writeFile(text)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { rows, sha256: hash.digest('hex') }
}

async function writeDurably(path: string, text: string) {
  await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true })
}

/** A folder that was looked at, and can be put back as far as it shows. */
export interface Backup {
  folder: string
  /** The tables that it holds. */
  tables: string[]
  /** Whether its manifest has shown that it is whole. The first versions wrote none. */
  isWhole: boolean
}

/**
 * Puts a backup into an empty database, all of it or nothing. Deliveries stand as they stood, and so does the door:
 * what was delivered is not delivered again. Accounts come back where they are ours to make.
 *
 * @param sql Connections of the schema's owner, the schema up to date.
 * @throws {OperatorError} where the database is not empty or the folder is not a whole backup.
 */
export async function restore(sql: Sql, { folder, tables: kept }: Backup): Promise<Kept> {
  try {
    const hasAccounts = kept.includes(accounts) && (await ownerOfAuth(sql)) === 'us'
    return await sql.begin(async (transaction) => {
      await transaction.unsafe(`lock table ${[applications, ...deskTables].join(', ')} in exclusive mode`)
      await refuseRows(transaction, applications, 'applications')
      if (kept.includes(history)) await refuseRows(transaction, history, 'a history of the desk')
      if (hasAccounts) await refuseRows(transaction, accounts, 'accounts of organisers')
      // The backup brings deliveries and drafts itself; new ones would be made twice. And a closed door would refuse it.
      const silenced = [applications, ...(kept.includes(letters) ? [statuses] : [])]
      for (const name of silenced) await transaction.unsafe(`alter table ${name} disable trigger user`)
      // What is kept for the search follows from the answers: no backup holds it.
      await transaction.unsafe(`alter table ${applications} enable trigger keep_search_vectors`)
      // By INSERT: the driver never returns from a COPY that the database refuses at its end.
      for (const name of kept) {
        if (accountTables.includes(name) && !hasAccounts) continue
        await insertLines(transaction, name, join(folder, fileOf(name)))
      }
      // Backups of before this was recorded: it became the moment of the restore.
      await transaction.unsafe(`
        update private.webhook_outbox set queued_at = created_at
        from ${applications} where id = application_id and delivered_at is null and queued_at = now()`)
      // What happens next comes behind what happened.
      await transaction.unsafe(
        `select setval(pg_get_serial_sequence('${history}', 'id'), max(id)) from ${history}`,
      )
      // The database that this was taken from may have sent them since: somebody has to look. What went by itself, or was
      // withdrawn on its way, ends here, and so does what an automation was to be told beside a letter.
      await transaction.unsafe(`
        with ended as (
          select id from ${letters} as letter
          where state in ('waiting', 'sending')
            and (occasion = 'received' or withdrawn_at is not null or not private.is_to_applicant(letter))
        )
        select from ended, private.move(array[ended.id], 'withdrawn')`)
      await transaction.unsafe(`
        with under_way as (
          select id from ${letters} where state in ('waiting', 'sending')
        ), stopped as (
          select letter.id from under_way, private.move(array[under_way.id], 'withdrawn') as letter
        )
        select from stopped, private.move(array[stopped.id], 'draft')`)
      await transaction.unsafe(`
        update ${letters} set way = 'mail', released_at = null, act = null,
          subject = case when not from_template then subject end, body = case when not from_template then body end
        where state = 'draft' and released_at is not null`)
      // Backups of before this was a column of its own: it stood where a mail server's answer does.
      await transaction.unsafe(`
        update ${letters} set otherwise = case answer when 'sent by hand' then 'by hand' else 'told' end, answer = ''
        where state = 'sent' and answer in ('sent by hand', 'told otherwise')`)
      for (const name of silenced) await transaction.unsafe(`alter table ${name} enable trigger user`)
      return {
        applications: await countRows(transaction, applications),
        accounts: hasAccounts ? await countRows(transaction, accounts) : 0,
      }
    })
  } catch (error) {
    throw unusable(error, folder)
  }
}

/**
 * Looks whether a folder is a backup that this version can put back, before anything is made for it.
 *
 * @throws {OperatorError} unless each file is as the manifest says.
 */
export async function checkBackup(folder: string): Promise<Backup> {
  try {
    const manifest = await readManifest(folder)
    if (manifest === undefined) return { folder, tables, isWhole: false }
    if (manifest.schema > newestVersion) {
      throw new OperatorError(
        `The backup in "${folder}" was made by a newer version of this program: restore it with that version, or a later one.`,
      )
    }
    // Older ones hold no accounts and nothing of the desk; those of hosted projects hold no accounts.
    const optional = [...deskTables, ...accountTables]
    const kept = [...tables, ...optional.filter((name) => manifest.files[fileOf(name)] !== undefined)]
    for (const name of kept.map(fileOf)) {
      const hash = createHash('sha256')
      await checkRegular(join(folder, name))
      for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk as Buffer)
      if (hash.digest('hex') === manifest.files[name]?.sha256) continue
      throw new OperatorError(
        `The folder "${folder}" is not a whole backup: ${name} is not what was written there.`,
      )
    }
    return { folder, tables: kept, isWhole: true }
  } catch (error) {
    throw unusable(error, folder)
  }
}

/** Nothing where the first versions wrote the backup: two files, and no manifest. */
async function readManifest(folder: string) {
  const names = await readdir(folder)
  if (!names.includes(manifestName)) {
    const isOfFirst = names.toSorted().join() === tables.map(fileOf).toSorted().join()
    if (!isOfFirst) {
      throw new OperatorError(
        `The folder "${folder}" is not a whole backup: it has no ${manifestName}, which is written last.`,
      )
    }
    for (const name of names) await checkRegular(join(folder, name))
    return undefined
  }
  await checkRegular(join(folder, manifestName))
  const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Manifest
  if (manifest.format === 1) return manifest
  throw new OperatorError(`The folder "${folder}" is a backup of a format that this version does not read.`)
}

/** A pipe or a device would be waited for, or read without an end; a link may lead anywhere. */
async function checkRegular(path: string) {
  if ((await lstat(path)).isFile()) return
  throw new OperatorError(`"${path}" is not a regular file: a backup holds no others.`)
}

async function insertLines(transaction: TransactionSql, name: string, file: string) {
  const insert = async (lines: string[]) => {
    // Later migrations may add columns that a backup does not have.
    const names = Object.keys(JSON.parse(lines[0] ?? '') as object).map(
      (column) => `"${column.replaceAll('"', '""')}"`,
    )
    const columns = names.join(', ')
    const key = furniture[name]
    const newer = names.map((column) => `excluded.${column}`).join(', ')
    const conflict =
      key === undefined ? '' : `on conflict (${key}) do update set (${columns}) = row(${newer})`
    await transaction.unsafe(
      `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, $1::text::json) ${conflict}`,
      [`[${lines.join(',')}]`],
    )
  }
  let batch: string[] = []
  for await (const line of linesOf(file)) {
    batch.push(line)
    if (batch.length < batchSize) continue
    await insert(batch)
    batch = []
  }
  if (batch.length > 0) await insert(batch)
}

/** Not by `node:readline`, which from Node.js 24 ends a line at U+2028 too: JSON leaves it, and applicants may write it. */
async function* linesOf(file: string) {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

async function countRows(transaction: TransactionSql, name: string) {
  const [row] = await transaction.unsafe<{ count: number }[]>(`select count(*)::int as count from ${name}`)
  return row?.count ?? 0
}

async function refuseRows(transaction: TransactionSql, name: string, what: string) {
  if ((await countRows(transaction, name)) === 0) return
  throw new OperatorError(`The database holds ${what} already: a backup is restored into an empty one.`)
}

function unusable(error: unknown, folder: string) {
  if (error instanceof OperatorError) return error
  const ofFile = error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  if (ofFile) {
    return new OperatorError(`The folder "${folder}" cannot be used (${error.message}).`, { cause: error })
  }
  // Class 22 and 23: values that do not fit; 42703: columns that are not there.
  const isRefused = error instanceof postgres.PostgresError
  if (error instanceof SyntaxError || (isRefused && /^(22|23|42703)/.test(error.code))) {
    return new OperatorError(`The folder "${folder}" is not a whole backup (${error.message}).`, {
      cause: error,
    })
  }
  if (!isRefused) return error
  return new OperatorError(`The database refused (${error.message}): nothing was written or restored.`, {
    cause: error,
  })
}
