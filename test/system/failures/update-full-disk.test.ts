import { statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { ensureCluster } from '../../../src/server/database/postgres/cluster.ts'
import { insertApplications, sentRowsOf } from '../../../src/server/applications/insert-rows.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'
import { anApplication } from '../../support/form.ts'
import { runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { migrationsOf } from '../../support/released-migrations.ts'

const megabyte = 2 ** 20
const letterCount = 100_000

test('an update that fails on a full disk is undone, a start without enough room refuses it, and with room it succeeds', async ({
  skip,
}) => {
  const disk = join((await temporaryDirectory()).path, 'disk')
  await mountSmallDisk(disk, '1g', skip)
  const dataDir = join(disk, 'data')
  await ensureCluster(dataDir, true)
  const sql = connectToEmbedded(dataDir, 4)
  await migrate(sql, { files: migrationsOf('1.0.1') })
  await insertApplications(sql, sentRowsOf(anApplication()))
  await sql`
    insert into private.letters (application_id, occasion, edition, state, subject, body, released_at, sent_at)
    select id, 'accepted', n, 'sent', 'Hello', repeat('a', 200), now(), now()
    from public.retreat_applications, generate_series(1, ${letterCount}) as n`
  await sql`checkpoint`
  const appliedMigrations = () =>
    sql`select version from supabase_migrations.schema_migrations order by version`
  const before = await appliedMigrations()

  const filler = join(disk, 'filler')
  const { bavail, bsize } = await statfs(disk)
  await writeFile(filler, new Uint8Array(bavail * bsize - 16 * megabyte))
  // Unlike a start, this call does not check the disk first.
  await expect(migrate(sql)).rejects.toThrow(
    /^The update fails at \d+_deliveries \(could not .*No space left on device\), and was undone/,
  )
  expect(await appliedMigrations()).toEqual(before)
  expect(await sql`select count(*)::int as count from private.letters`).toEqual([{ count: letterCount }])

  const { code, stdout, stderr } = await runCommand([], { DATA_DIR: dataDir })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^The update needs \d+ MB of disk for a while, and 1\d MB are free where DATA_DIR is: make room there/m,
  )

  await truncate(filler)
  const server = await startServer({ DATA_DIR: dataDir })
  const migrated = connectToEmbedded(dataDir)
  expect(await migrated`select count(*)::int as count from private.deliveries where kind = 'letter'`).toEqual(
    [{ count: letterCount }],
  )
  await migrated.end()
  expect(await server.stop()).toBe(0)
})
