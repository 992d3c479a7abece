import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'

import {
  isGenerated,
  migrations,
  nameOf,
  type Ledger,
  type Migration,
} from '../../../src/server/database/schema/migration-files.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'
import { declareSchema, readCatalogue, type Catalogue } from '../../support/catalogue.ts'
import { extent } from '../../support/quick-or-long.ts'
import { anApplication } from '../../support/form.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { connectTo, valuesOf } from '../../support/sql.ts'

const run = promisify(execFile)
const git = async (...args: string[]) => (await run('git', args, { maxBuffer: 2 ** 28 })).stdout

/** The commit that released 1.2.1. Later commits of `main` have migrations that no release has yet. */
const lastRelease = '29e5dcf6'

/** Whether 1.2.1 has a migration. */
const isBefore = (version: string) => version <= '20261129174157'

const ledgers: Record<string, Ledger> = {
  'supabase/migrations': 'shared',
  'src/server/database/migrations': 'server',
}

/** The migrations of a commit that 1.2.1 lacks. */
async function openMigrationsAt(commit: string): Promise<Migration[]> {
  const paths = (await git('ls-tree', '-r', '--name-only', commit, ...Object.keys(ledgers)))
    .trim()
    .split('\n')
  const found = paths.flatMap((path) => {
    const [, folder = '', version = '', name = ''] = /^(.*)\/(\d+)_(.*)\.sql$/.exec(path) ?? []
    const ledger = ledgers[folder]
    return ledger === undefined || isBefore(version) ? [] : [{ path, ledger, version, name }]
  })
  return Promise.all(
    found.map(async ({ path, ...migration }) => ({
      ...migration,
      sql: await git('show', `${commit}:${path}`),
    })),
  )
}

/** The commits of `main` that changed migrations since then. A copy without history has none. */
const commits = (
  await git(
    'rev-list',
    '--reverse',
    '--first-parent',
    `${lastRelease}..HEAD`,
    '--',
    ...Object.keys(ledgers),
  ).catch(() => '')
)
  .trim()
  .split('\n')
  .filter(Boolean)

/**
 * Commits after which a migration was edited or removed. A start refuses a database of the first three, and one of the last keeps an
 * index.
 */
const outdated = ['3ae964c0', 'a01f292d', '584f3fbc', 'a8861e1c']
const pulled = commits.filter((commit) => !outdated.some((prefix) => commit.startsWith(prefix)))
const tried = extent({ quick: pulled.slice(-5), long: pulled })

let server: TestPostgres
let declared: Catalogue

beforeAll(async () => {
  server = await startPostgres()
  for (const name of ['released', 'declared']) await server.admin.unsafe(`create database ${name}`)
  const released = connectTo(server.url('released'), 2)
  await migrate(released, { files: migrations.filter(({ version }) => isBefore(version)) })
  await released`insert into public.retreat_applications ${valuesOf(anApplication())}`
  await released.end()
  const empty = connectTo(server.url('declared'), 2)
  await declareSchema(empty, 'server')
  declared = await readCatalogue(empty)
})

/** A database that the migrations of a commit made from one of 1.2.1 with an application. */
async function databaseAt(commit: string) {
  const name = `at_${commit}`
  await server.admin.unsafe(`create database ${name} template released`)
  const sql = connectTo(server.url(name), 2)
  const files = [
    ...migrations.filter(({ version }) => isBefore(version)),
    ...(await openMigrationsAt(commit)),
  ]
  await migrate(sql, { files: files.toSorted((a, b) => (a.version < b.version ? -1 : 1)) })
  return sql
}

test.for(tried)('a database of the commit %s is pulled forward without loss', async (commit) => {
  const sql = await databaseAt(commit)
  await migrate(sql)
  expect(await readCatalogue(sql)).toEqual(declared)
  expect(await sql`select from public.retreat_applications`).toHaveLength(1)
  expect(await migrate(sql)).toEqual({ applied: [], edited: [] })
})

// break: functions-applied-once
test('functions that changed, got another result or other arguments, or were removed are applied again', async () => {
  await server.admin.unsafe('create database earlier template released')
  const sql = connectTo(server.url('earlier'), 2)
  await migrate(sql)
  await sql.unsafe(`
    create or replace function private.trimmed(said text) returns text language sql immutable parallel safe return said;
    drop function private.check_number(uuid[]);
    create function private.check_number(ids uuid[]) returns integer language sql return 1;
    drop function private.check_text(text, text);
    create function private.check_text(subject text) returns void language sql begin atomic; end;
    create function private.removed() returns text language sql return 'once';
    grant execute on function private.is_organiser() to anon;
    update private.server_migrations set statements = array[statements[1] || E'\ncreate function private.removed() returns text']
      where version = 'functions'`)
  expect(await migrate(sql)).toEqual({ applied: [], edited: [] })
  expect(await readCatalogue(sql)).toEqual(declared)
})

test('a migration that is written by hand is never edited once it is committed', async ({ skip }) => {
  const hasParent = await git('rev-parse', 'HEAD^').then(
    () => true,
    () => false,
  )
  if (!hasParent) return skip('This checkout has no commit before the last one: fetch two.')
  const former = (await openMigrationsAt('HEAD^')).filter((each) => !isGenerated(each))
  const edited = former.filter(
    ({ version, sql }) => migrations.find((each) => each.version === version)?.sql !== sql,
  )
  expect(edited.map(nameOf), 'Restore these migrations, and write a new one.').toEqual([])
})
