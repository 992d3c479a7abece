import { createHash } from 'node:crypto'

import releasedList from '../../../supabase/released.sha256?raw'
import { editedBeforeFreeze } from './edited-migrations.ts'

/**
 * The records of applied migrations. `shared` is the Supabase CLI's own record, so that it and our server can continue each
 * other's work. `server` is for the migrations that only our own server applies.
 */
export type Ledger = 'shared' | 'server'

export interface Migration {
  ledger: Ledger
  /** A time. It puts the migrations of both ledgers into one order. */
  version: string
  name: string
  sql: string
}

// The build writes the files into the program, and reads these options without running them.
const sharedFiles = import.meta.glob<string>('/supabase/migrations/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
})
const serverFiles = import.meta.glob<string>('./migrations/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
})

/** Every migration, in the order of the versions. */
export const migrations: readonly Migration[] = [
  ...read('shared', sharedFiles),
  ...read('server', serverFiles),
].toSorted((a, b) => (a.version < b.version ? -1 : 1))

function read(ledger: Ledger, files: Record<string, string>): Migration[] {
  return Object.entries(files).map(([path, sql]) => {
    const [, version = '', name = ''] = /(\d+)_([^/]*)\.sql$/.exec(path) ?? []
    return { ledger, version, name, sql }
  })
}

/** The version that `migrate` brings a schema to. */
export const newestVersion = migrations.at(-1)?.version ?? ''

/** A migration's name, with its version. */
export const nameOf = ({ version, name }: Pick<Migration, 'version' | 'name'>) => `${version}_${name}`

/**
 * Whether a migration is part of a release, and so is never edited again. Between releases one file of each ledger is open: a
 * database that applied an earlier text of it cannot be brought to the newest (docs/decisions/0057).
 */
export const isReleased = (migration: Pick<Migration, 'version' | 'name'>) =>
  releasedList.includes(`/${nameOf(migration)}.sql\n`)

/** The shared migration after which the tables are gone that earlier migrations of our own server act on. */
const deliveriesVersion = '20261126000000'

/**
 * Whether a migration of our own server was written for tables that a hosted project has no more, whose own migrations came
 * further before a server was pointed at it. It is recorded and not applied: a later one makes what is missing.
 */
export const isOvertaken = (
  { ledger, version }: Pick<Migration, 'ledger' | 'version'>,
  shared: ReadonlySet<string>,
) => ledger === 'server' && version < deliveriesVersion && shared.has(deliveriesVersion)

/** An index that is built while others write, with its name and schema; or a constraint that is checked meanwhile. */
export const alone =
  /^(?:create (?:unique )?index concurrently if not exists (?<index>\w+)\s+on (?<schema>\w+)\.|alter table \S+\s+validate constraint )/m

/** Whether a migration is one statement that no transaction may have around it. */
export const runsAlone = ({ sql }: Pick<Migration, 'sql'>) => alone.test(sql)

/** An index that takes the place and the name of another one once it is built. */
const replacesIndex =
  /^do \$\$(?:(?!\$\$)[^])*\bdrop index [^]*\balter index \S+ rename to \w+;\s*end\s*\$\$;\s*$/

/** Whether a migration has a file of its own beside the open one: it runs alone, or it follows what did. */
export const hasOwnFile = ({ sql }: Pick<Migration, 'sql'>) =>
  runsAlone({ sql }) || replacesIndex.test(sql.replaceAll(/--.*/g, '').trim())

/** The tables whose rows a migration copies, as its comment says: for a while they are there twice. */
export const copiedBy = ({ sql }: Pick<Migration, 'sql'>): string[] =>
  /^-- Copies: (.*)\.$/m.exec(sql)?.[1]?.split(', ') ?? []

/**
 * Whether a text that a database applied differs from the migration's. Comments, blanks and the ends of statements make no
 * difference: the Supabase CLI records statements one by one.
 */
export function isEdited({ version, sql }: Migration, applied: string): boolean {
  if (essenceOf(applied) === essenceOf(sql)) return false
  return editedBeforeFreeze[version]?.includes(digestOf(applied)) !== true
}

const essenceOf = (sql: string) => sql.replaceAll(/--.*|\/\*[^]*?\*\//g, '').replaceAll(/[\s;]/g, '')
const digestOf = (sql: string) => createHash('sha256').update(essenceOf(sql)).digest('hex').slice(0, 16)
