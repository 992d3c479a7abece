import releasedList from '../../../../supabase/released.sha256?raw'

/**
 * The records of applied migrations. `shared` is the Supabase CLI's own record, so that the CLI and our server can continue each
 * other's work. `server` is for migrations that only our own server applies.
 */
export type Ledger = 'shared' | 'server'

/** A migration, which is applied once. */
export interface Migration {
  ledger: Ledger
  /** A timestamp, which orders the migrations of both ledgers. */
  version: string
  name: string
  sql: string
}

// The build inlines the files. It parses these options without running them, so they have to be literals.
const sharedFiles = import.meta.glob<string>('/supabase/migrations/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
})
const serverFiles = import.meta.glob<string>('../migrations/*.sql', {
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

/** A migration's version and name. */
export const nameOf = ({ version, name }: Pick<Migration, 'version' | 'name'>) => `${version}_${name}`

/** Whether a migration is part of a release. */
export const isReleased = (migration: Pick<Migration, 'version' | 'name'>) =>
  releasedList.includes(`/${nameOf(migration)}.sql\n`)

/** The first line of a migration that `npm run schema` writes. */
export const generatedMark =
  '-- The functions that changed since the last release. `npm run schema` writes this file: edit the declared schema instead.\n'

/** Whether `npm run schema` writes a migration. It has only functions, and is written anew until its release. */
export const isGenerated = ({ sql }: Pick<Migration, 'sql'>) => sql.startsWith(generatedMark)

/** The shared migration that drops tables which our own server's earlier migrations use. */
const deliveriesVersion = '20261126000000'

/**
 * Whether a migration of our own server is for tables that no longer exist. This happens in a hosted project that had the shared
 * migration which drops them before its first server started. The migration is recorded without being applied: a later migration
 * creates what is missing.
 */
export const isSuperseded = (
  { ledger, version }: Pick<Migration, 'ledger' | 'version'>,
  shared: ReadonlySet<string>,
) => ledger === 'server' && version < deliveriesVersion && shared.has(deliveriesVersion)

/** A statement that builds an index (with its name and schema), or validates a constraint, while others write. */
export const aloneStatement =
  /^(?:create (?:unique )?index concurrently if not exists (?<index>\w+)\s+on (?<schema>\w+)\.|alter table \S+\s+validate constraint )/m

/** Whether a migration is one statement that cannot run in a transaction. */
export const runsAlone = ({ sql }: Pick<Migration, 'sql'>) => aloneStatement.test(sql)

/** A migration that replaces an index with a newly built one. */
const replacesIndex =
  /^do \$\$(?:(?!\$\$)[^])*\bdrop index [^]*\balter index \S+ rename to \w+;\s*end\s*\$\$;\s*$/

/** Whether a migration needs its own file: it runs alone, or replaces an index by one that was built alone. */
export const hasOwnFile = ({ sql }: Pick<Migration, 'sql'>) =>
  runsAlone({ sql }) || replacesIndex.test(sql.replaceAll(/--.*/g, '').trim())

/** The tables whose rows a migration copies, according to its comment. Until the migration ends, they use twice the space. */
export const tablesCopiedBy = ({ sql }: Pick<Migration, 'sql'>): string[] =>
  /^-- Copies: (.*)\.$/m.exec(sql)?.[1]?.split(', ') ?? []

/**
 * Whether the text that a database applied differs from the migration's. Comments, white space and semicolons are ignored, since
 * the Supabase CLI records statements one by one.
 */
export const isEdited = ({ sql }: Migration, applied: string): boolean =>
  normalised(applied) !== normalised(sql)

/** A text without comments, white space and semicolons. */
const normalised = (sql: string) => sql.replaceAll(/--.*|\/\*[^]*?\*\//g, '').replaceAll(/[\s;]/g, '')
