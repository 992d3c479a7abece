/**
 * Writes the second part of each open migration: the statements that change functions into the declared ones. A migration is
 * open until a release contains it. Its first part changes tables, columns and rows, is written by hand and never overwritten.
 * Without an open migration, `npm run schema` prints the missing statements, and `npm run schema -- <words>` begins a
 * migration.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import {
  hasOwnFile,
  isReleased,
  migrations,
  nameOf as migrationNameOf,
  newestVersion,
} from '../src/server/database/migrations.ts'
import { giveToOwner } from '../src/server/database/owner.ts'
import { migrate } from '../src/server/database/schema.ts'
import { compare, declareSchema, readCatalogue, schemaFolders } from '../test/support/catalogue.ts'
import { startPostgres } from '../test/support/postgres.ts'
import type { Sql } from '../src/server/database/sql.ts'
import { connectTo } from '../test/support/sql.ts'
import { statementsOf } from './statements.ts'

/** The folder of migrations for each folder of declarations. */
const migrationsOf: Record<string, string> = {
  'supabase/schemas': 'supabase/migrations',
  'src/server/database/schemas': 'src/server/database/migrations',
}

/** Reads the declared functions, by schema and name. */
async function declaredFunctions() {
  const functions = new Map<string, { folder: string; text: string }>()
  for (const folder of schemaFolders) {
    for (const file of await readdir(folder)) {
      for (const text of statementsOf(await readFile(join(folder, file), 'utf8'))) {
        const name = /^create function ([\w.]+)/m.exec(text)?.[1]
        if (name !== undefined) functions.set(name, { folder, text })
      }
    }
  }
  return functions
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
 * @returns The statements that it ran, by the folder of migrations that they belong to.
 */
async function updateFunctions(migrated: Sql, declared: Sql): Promise<Map<string, string[]>> {
  const [actual, expected] = await Promise.all([readCatalogue(migrated), readCatalogue(declared)])
  const texts = await declaredFunctions()
  const statements = new Map<string, string[]>()
  const run = async (folder: string, statement: string) => {
    await migrated.unsafe(statement)
    const target = migrationsOf[folder] ?? folder
    statements.set(target, [...(statements.get(target) ?? []), statement])
  }
  const tryStatement = (folder: string, statement: string) =>
    run(folder, statement).then(
      () => true,
      () => false,
    )
  // Functions change in the order of the files, because one function may need another.
  const changed = [...expected.keys()].filter(
    (what) => isFunction(what) && actual.get(what) !== expected.get(what),
  )
  for (const [name, { folder, text }] of texts) {
    for (const what of changed.filter((each) => nameOf(each) === name)) {
      const signature = signatureOf(what)
      const replacement = text.replace(/^create function/m, 'create or replace function')
      if (actual.has(what) && (await tryStatement(folder, replacement))) continue
      const former = [...actual.keys()].filter((each) => isFunction(each) && nameOf(each) === name)
      const drops = former
        .filter((each) => !expected.has(each) || each === what)
        .map((each) => `drop function ${signatureOf(each)};`)
      // One run drops and creates, so that no function is dropped without a successor.
      if (await tryStatement(folder, [...drops, text].join('\n\n')))
        await run(folder, await rightsOn(declared, signature))
    }
  }
  // A server also sets the owner after its migrations.
  await migrated.begin(giveToOwner)
  const remaining = await readCatalogue(migrated)
  for (const what of [...remaining.keys()]
    .filter((each) => isFunction(each) && !expected.has(each))
    .toSorted()) {
    await tryStatement('supabase/schemas', `drop function ${signatureOf(what)};`)
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

/** The first line of the second part of an open migration. */
const marker =
  '-- The functions that changed. `npm run schema` writes what follows: edit the declared schema instead.\n'
const handWrittenPart = (text: string) => text.split(marker)[0]?.trimEnd() ?? ''

/** A version later than every migration. */
function nextVersion() {
  const now = Number(new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14))
  return String(Math.max(now, Number(newestVersion) + 100))
}

/** Returns the path and text of a folder's open migration. Without one, returns a new path, if the command has words. */
function openMigrationOf(folder: string) {
  const ledger = folder === migrationsOf['supabase/schemas'] ? 'shared' : 'server'
  const open = openMigrations.find((each) => each.ledger === ledger)
  if (open !== undefined) return { path: join(folder, `${migrationNameOf(open)}.sql`), text: open.sql }
  return { path: words === '' ? undefined : join(folder, `${nextVersion()}_${words}.sql`), text: '' }
}

const openMigrations = migrations.filter((each) => !isReleased(each) && !hasOwnFile(each))
const words = process.argv.slice(2).join('_').toLowerCase()
const server = await startPostgres()
try {
  const connect = async (name: string) => {
    await server.admin.unsafe(`create database ${name}`)
    return connectTo(server.url(name), 2)
  }
  const [migrated, declared] = [await connect('migrated'), await connect('declared')]
  // The open migrations without their generated part.
  const withoutGenerated = migrations.map((each) =>
    openMigrations.includes(each) ? { ...each, sql: handWrittenPart(each.sql) || 'select' } : each,
  )
  await migrate(migrated, { files: withoutGenerated })
  await declareSchema(declared, 'server')
  const statements = await updateFunctions(migrated, declared)
  for (const folder of Object.values(migrationsOf)) {
    const functions = statements.get(folder) ?? []
    const { path, text: former } = openMigrationOf(folder)
    const generated = functions.length > 0 ? [marker + functions.join('\n\n')] : []
    const text = [handWrittenPart(former), ...generated].filter(Boolean).join('\n\n')
    if (text === former.trimEnd()) continue
    if (path === undefined) console.log(`-- For ${folder}:\n\n${text}\n`)
    else {
      await writeFile(path, `${text}\n`)
      console.log(`Written: ${path}`)
    }
  }
  const differences = await describeDifferences(migrated, declared)
  for (const sentence of differences) console.error(sentence)
  if (differences.length === 0) console.log('The migrations produce the declared schema.')
  await Promise.all([migrated.end(), declared.end()])
} finally {
  await server.close()
}
