import { expect, test } from 'vitest'

import { backupRestored, dumpMigrated, migrateDump, restoreBackup } from '../support/data-of-1.0.0.ts'
import { cannotRun } from '../support/requirements.ts'
import {
  debianPrograms,
  isDebianPostgresInstalled,
  noDebianPostgres,
  startOtherPostgres,
} from '../support/other-postgres.ts'

test("on Debian's PostgreSQL 15 a database of 1.0.0 is migrated with every row and state", async ({
  skip,
}) => {
  if (!isDebianPostgresInstalled()) return cannotRun(skip, noDebianPostgres)
  const postgres = await startOtherPostgres(debianPrograms)
  expect(await migrateDump(postgres)).toEqual(dumpMigrated)
})

test("on Debian's PostgreSQL 15 a backup of 1.0.0 is restored with every row and state", async ({ skip }) => {
  if (!isDebianPostgresInstalled()) return cannotRun(skip, noDebianPostgres)
  const postgres = await startOtherPostgres(debianPrograms)
  expect(await restoreBackup(postgres)).toEqual(backupRestored)
})
