import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { anApplication } from '../support/form.ts'
import { cannotRun } from '../support/requirements.ts'
import {
  debianPrograms,
  fetchPostgres,
  noDebianPostgres,
  noFetchedPostgres,
} from '../support/other-postgres.ts'
import { runCommand, startServer, temporaryDirectory } from '../support/server.ts'
import { connectToEmbedded, valuesOf } from '../support/sql.ts'

const fetched = await temporaryDirectory()
const programs = await fetchPostgres(18, fetched.path)

/** Reads the applications as CSV, and the number of each index's file, which changes when the index is rebuilt. */
async function contentOf(dataDir: string) {
  const { code, stdout } = await runCommand(['applications', '--csv'], { DATA_DIR: dataDir })
  expect(code).toBe(0)
  const sql = connectToEmbedded(dataDir)
  const indexes = await sql<{ name: string; filenode: number }[]>`
    select oid::regclass::text as name, pg_relation_filenode(oid)::integer as filenode from pg_class
    where relkind = 'i' and relnamespace::regnamespace::text in ('public', 'private', 'auth') order by 1`
  await sql.end()
  return { csv: stdout, indexes }
}

test('an installed PostgreSQL uses the same data files as the bundled one, and a change of the minor version rebuilds all indexes once', async ({
  skip,
}) => {
  if (programs === undefined) return cannotRun(skip, noFetchedPostgres(18))
  const directory = await temporaryDirectory()
  const DATA_DIR = join(directory.path, 'data')
  const former = await startServer({ DATA_DIR, POSTGRES_BIN: programs })
  expect(former.output()).not.toContain('rebuilding')
  const sql = connectToEmbedded(DATA_DIR)
  await sql`insert into public.retreat_applications ${valuesOf([anApplication(), anApplication()])}`
  await sql.end()
  const before = await contentOf(DATA_DIR)
  expect((await runCommand(['doctor'], { DATA_DIR, POSTGRES_BIN: programs })).stdout).toContain(
    `PostgreSQL 18.1 runs, from POSTGRES_BIN (${programs}). It is 6 minor versions behind 18.7, the newest known, which fixes bugs: update it, and restart the server.`,
  )
  expect((await runCommand(['doctor'], { DATA_DIR })).stdout).toMatch(
    /PostgreSQL 18\.1 of .* runs, and the next start will use 18\.4 from .*: restart the server\./,
  )
  await former.stop()

  const server = await startServer({ DATA_DIR })
  expect(server.output()).toContain('PostgreSQL is 18.4, and was 18.1 before: rebuilding all indexes')
  const after = await contentOf(DATA_DIR)
  expect(after.csv).toBe(before.csv)
  expect(after.indexes.map(({ name }) => name)).toEqual(before.indexes.map(({ name }) => name))
  expect(after.indexes.filter(({ filenode }, index) => filenode === before.indexes[index]?.filenode)).toEqual(
    [],
  )
  const doctor = await runCommand(['doctor'], { DATA_DIR })
  expect(doctor.stdout).toMatch(
    /^postgresql +not set +PostgreSQL 18\.4 runs, from the binaries that npm installed .* 3 minor versions behind 18\.7, /m,
  )
  await server.stop()

  const next = await startServer({ DATA_DIR })
  expect(next.output()).not.toContain('rebuilding')
  expect((await contentOf(DATA_DIR)).indexes).toEqual(after.indexes)
})

test('an installed PostgreSQL of another major version is refused in one sentence', async ({ skip }) => {
  if (!existsSync(join(debianPrograms, 'initdb'))) return cannotRun(skip, noDebianPostgres)
  const directory = await temporaryDirectory()
  const settings = { DATA_DIR: directory.path, POSTGRES_BIN: debianPrograms }
  for (const command of [[], ['applications']]) {
    const { code, stderr } = await runCommand(command, settings)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^POSTGRES_BIN is ".*", which is PostgreSQL 15\.\d+, but should be 18, whose files these are: .*\.\n$/,
    )
  }
  expect(await readdir(directory.path)).toEqual([])
})
