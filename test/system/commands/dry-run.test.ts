import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { newestVersion } from '../../../src/server/database/schema/migration-files.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { loadDump, rowsOf } from '../../support/data-of-1.0.0.ts'
import { startPostgres } from '../../support/postgres.ts'
import { dataDirectory, runCommand, startServer } from '../../support/server.ts'

/** Reads everything that an update may change: rows, migrations, the catalogues of all schemas, and roles. */
async function everythingOf(sql: Sql) {
  const recorded = await sql`select * from supabase_migrations.schema_migrations order by version`
  const classes = await sql`
    select oid, relname, relfilenode, relowner, relacl::text from pg_class where relname !~ '^pg_toast' order by oid`
  const functions = await sql`select oid, proname, md5(prosrc) as text from pg_proc order by oid`
  const roles = await sql`select rolname from pg_roles order by 1`
  return { rows: await rowsOf(sql), recorded, classes, functions, roles }
}

test('a dry run over a database of 1.0.0 reports all changes without making them, and the update makes them', async () => {
  const postgres = await startPostgres()
  const { admin } = postgres
  await loadDump(admin)
  const before = await everythingOf(admin)
  const { code, stdout, stderr } = await runCommand(['--dry-run'], { DATABASE_URL: postgres.url() })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Using .*\n$/) as string })
  expect(await everythingOf(admin)).toEqual(before)

  const migrations = [...stdout.matchAll(/^ {2}(\d{14})_\w+/gm)].map(([, version]) => version)
  expect(migrations.length).toBeGreaterThan(1)
  expect(migrations).toContain(newestVersion)
  expect(stdout).toMatch(
    /^They took \d+\.\d s\. Nobody can apply for that long during the update\. Everything was undone\.$/m,
  )
  // No free space is named, since the database at DATABASE_URL may be on another machine's disk.
  expect(stdout).toMatch(/^The update needs \d+ MB of disk for a while\.$/m)

  const reportedCounts = Object.fromEntries(
    [...stdout.matchAll(/^(\w+\.\w+) +(\S+|no table) +(\S+|no table)$/gm)].map(([, name = '', was, is]) => [
      name,
      { was, is },
    ]),
  )
  const server = await startServer({ DATABASE_URL: postgres.url() })
  await server.stop()
  const [counts] = await admin<Record<string, string>[]>`
    select (select count(*) from private.letters)::text as letters, (select count(*) from private.deliveries)::text as deliveries,
      (select count(*) from private.invitations)::text as invitations`
  const countBefore = (table: string) => String(before.rows[table]?.length)
  expect(reportedCounts).toMatchObject({
    'private.letters': { was: countBefore('private.letters'), is: counts?.['letters'] },
    'private.deliveries': { was: 'no table', is: counts?.['deliveries'] },
    'private.invitations': { was: 'no table', is: counts?.['invitations'] },
    'private.webhook_outbox': { was: countBefore('private.webhook_outbox'), is: 'no table' },
  })

  const afterUpdate = await runCommand(['--dry-run'], { DATABASE_URL: postgres.url() })
  expect(afterUpdate).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Version \S+ changes nothing of the schema\.\n$/) as string,
  })
})

test('a dry run and a start that fail to update explain the failure in one sentence and exit with 1', async () => {
  const postgres = await startPostgres()
  const { admin } = postgres
  await loadDump(admin)
  await admin`create view public.of_the_operator as select id from private.letters`
  const before = await everythingOf(admin)
  const sentence =
    /^The update fails at \d{14}_deliveries \(cannot drop .*: view of_the_operator depends on table private\.former_letters\), and was undone: run the former version until this is fixed \(docs\/operate\.md#update\)\.$/m
  for (const args of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await runCommand(args, { DATABASE_URL: postgres.url() })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(sentence)
    expect(await everythingOf(admin)).toEqual(before)
  }
})

test('a dry run does not disturb a running server, and `npm start` has help and refuses unknown options', async () => {
  const { path } = await dataDirectory()
  const server = await startServer({ DATA_DIR: path })
  expect(await runCommand(['--dry-run'], { DATA_DIR: path })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('changes nothing of the schema') as string,
  })
  expect((await fetch(server.origin)).status).toBe(200)
  const help = await runCommand(['--help'], {})
  const [, listed = ''] = help.stdout.split('Commands')
  const commands = (await readdir('src/cli/commands')).map((name) => name.replace('.ts', ''))
  expect(Array.from(listed.matchAll(/^ {2}(\w+) {2}/gm), ([, name]) => name)).toEqual(
    commands.filter((name) => name !== 'start').toSorted(),
  )
  expect(help).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Usage: node \/.*start\.js$[^]*^ +node \/.*start\.js --dry-run$[^]*^ {2}webhooks /m,
    ) as string,
  })
  expect(await runCommand(['--rehearse'], {})).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Unknown option '--rehearse'") as string,
  })
})
