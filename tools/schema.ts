/**
 * Writes the functions that changed since the last release into a migration of their own, the last one of its folder, until a
 * release contains it. Names all other differences between migrations and declared schema: tables, columns and rows are changed
 * by migrations that are written by hand. `npm run schema -- <words>` begins one.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { declaredFunctions } from '../src/server/database/schema/declared-functions.ts'
import {
  generatedMark,
  isGenerated,
  isReleased,
  migrations,
  nameOf as migrationNameOf,
  newestVersion,
  type Ledger,
} from '../src/server/database/schema/migration-files.ts'
import { giveToOwner } from '../src/server/database/schema/owner.ts'
import { migrate } from '../src/server/database/schema/migrate.ts'
import { compare, declareSchema, readCatalogue } from '../test/support/catalogue.ts'
import { startPostgres } from '../test/support/postgres.ts'
import type { Sql } from '../src/server/database/connection/sql.ts'
import { connectTo } from '../test/support/sql.ts'

/** The folder of migrations for each ledger. */
const folders: Record<Ledger, string> = {
  shared: 'supabase/migrations',
  server: 'src/server/database/migrations',
}

/** Returns the statements that give the declared rights on a function. */
async function rightsOn(declared: Sql, signature: string): Promise<string> {
  const grants = await declared<{ role: string }[]>`
    select grantee::regrole::text as role from pg_proc, aclexplode(proacl)
    where pg_proc.oid = ${signature}::regprocedure and grantee <> proowner order by 1`
  return [
    `revoke all on function ${signature} from public, anon, authenticated;`,
    ...(grants.length > 0
      ? [`grant execute on function ${signature} to ${grants.map(({ role }) => role).join(', ')};`]
      : []),
  ].join('\n')
}

// `what` is an entry of the catalogue, such as `the function private.today()`.
const isFunction = (what: string) => what.startsWith('the function ')
const signatureOf = (what: string) => what.slice('the function '.length)
const nameOf = (what: string) => signatureOf(what).replace(/\(.*/, '')

/**
 * Changes the functions of a migrated database to the declared ones.
 *
 * @returns The statements that it ran, by the ledger of their migrations.
 */
async function updateFunctions(migrated: Sql, declared: Sql): Promise<Record<Ledger, string[]>> {
  const [actual, expected] = await Promise.all([readCatalogue(migrated), readCatalogue(declared)])
  const statements: Record<Ledger, string[]> = { shared: [], server: [] }
  const run = async (ledger: Ledger, statement: string) => {
    await migrated.unsafe(statement)
    statements[ledger].push(statement)
  }
  const tryStatement = (ledger: Ledger, statement: string) =>
    run(ledger, statement).then(
      () => true,
      () => false,
    )
  const changed = [...expected.keys()].filter(
    (what) => isFunction(what) && actual.get(what) !== expected.get(what),
  )
  for (const { name, ledger, sql } of declaredFunctions) {
    for (const what of changed.filter((each) => nameOf(each) === name)) {
      const signature = signatureOf(what)
      const replacement = sql.replace(/^create function/m, 'create or replace function')
      if (actual.has(what) && (await tryStatement(ledger, replacement))) continue
      const former = [...actual.keys()].filter((each) => isFunction(each) && nameOf(each) === name)
      const drops = former
        .filter((each) => !expected.has(each) || each === what)
        .map((each) => `drop function if exists ${signatureOf(each)};`)
      // One run drops and creates, so that no function is dropped without a successor.
      if (await tryStatement(ledger, [...drops, replacement].join('\n\n')))
        await run(ledger, await rightsOn(declared, signature))
    }
  }
  // A server also sets the owner after its migrations.
  await migrated.begin(giveToOwner)
  const remaining = await readCatalogue(migrated)
  for (const what of [...remaining.keys()]
    .filter((each) => isFunction(each) && !expected.has(each))
    .toSorted()) {
    await tryStatement('shared', `drop function if exists ${signatureOf(what)};`)
  }
  return statements
}

/** Describes each difference between the migrated database and the declared schema in a sentence. */
async function describeDifferences(migrated: Sql, declared: Sql): Promise<string[]> {
  return (await compare(migrated, declared)).map(({ what, migrated: actual, declared: expected }) => {
    if (actual === undefined) return `No migration makes ${what}.`
    if (expected === undefined) return `No migration drops ${what}.`
    if (isFunction(what)) return `No migration changes ${what}.`
    return `No migration changes ${what}, which is\n    ${actual}\n  and should be\n    ${expected}`
  })
}

/** A version later than every migration, and than those that this command has written. */
function nextVersion() {
  const now = Number(new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14))
  lastVersion = Math.max(now, lastVersion + 1)
  return String(lastVersion)
}
let lastVersion = Number(newestVersion)

/** Writes a migration. */
async function writeMigration(folder: string, name: string, text: string) {
  const path = join(folder, `${nextVersion()}_${name}.sql`)
  await writeFile(path, text)
  console.log(`Written: ${path}`)
}

/**
 * Writes the functions of a ledger, in place of the ones that it has. A file whose functions changed gets a later version, so that
 * it follows the migrations that were written meanwhile, and so that the Supabase CLI pushes it.
 */
async function writeFunctions(ledger: Ledger, statements: readonly string[]) {
  const folder = folders[ledger]
  const former = openFunctions.find((each) => each.ledger === ledger)
  const text = statements.length === 0 ? '' : `${generatedMark}\n${statements.join('\n\n')}\n`
  const last = migrations.findLast((each) => each.ledger === ledger)
  const isLast = former === undefined || (former === last && words === '')
  if (text === (former?.sql ?? '') && isLast) return
  if (former !== undefined) await rm(join(folder, `${migrationNameOf(former)}.sql`))
  if (text !== '') await writeMigration(folder, 'functions', text)
}

/** The generated migrations that no release contains. */
const openFunctions = migrations.filter((each) => isGenerated(each) && !isReleased(each))
const words = process.argv.slice(2).join('_').toLowerCase()
const server = await startPostgres()
try {
  const connect = async (name: string) => {
    await server.admin.unsafe(`create database ${name}`)
    return connectTo(server.url(name), 2)
  }
  const [migrated, declared] = [await connect('migrated'), await connect('declared')]
  await migrate(migrated, { files: migrations.filter((each) => !openFunctions.includes(each)) })
  await declareSchema(declared, 'server')
  const statements = await updateFunctions(migrated, declared)
  // A migration waits only briefly for a table's lock, also when the Supabase CLI applies it.
  if (words !== '') await writeMigration(folders.shared, words, `set local lock_timeout = '1s';\n`)
  for (const ledger of ['shared', 'server'] as const) await writeFunctions(ledger, statements[ledger])
  const differences = await describeDifferences(migrated, declared)
  for (const sentence of differences) console.error(sentence)
  if (differences.length === 0) console.log('The migrations produce the declared schema.')
  await Promise.all([migrated.end(), declared.end()])
} finally {
  await server.close()
}
