import { beforeAll, beforeEach, expect, test, vi } from 'vitest'

import { atTestEnd } from '../../../test/support/cleanup.ts'
import { connectTo, connectToEmbedded } from '../../../test/support/sql.ts'
import { createTestDatabase } from '../../../test/support/worker-postgres.ts'
import { openDatabase } from './database.ts'
import type { Sql } from './connection/sql.ts'

/** Variables that libpq, the driver or PostgreSQL's programs read. */
const variables = {
  PGHOST: 'db.invalid',
  PGHOSTADDR: '192.0.2.1',
  PGPORT: '1',
  PGUSER: 'ada',
  PGPASSWORD: 'wrong',
  PGPASSFILE: '/nowhere',
  PGDATABASE: 'elsewhere',
  PGOPTIONS: '-c default_transaction_read_only=on --no-such-option',
  PGAPPNAME: 'another',
  PGSERVICE: 'another',
  PGSSLMODE: 'verify-full',
  PGSSLNEGOTIATION: 'direct',
  PGREPLICATION: 'database',
  PGBINARY: 'true',
  PGCLIENTENCODING: 'LATIN1',
  PGCLIENT_ENCODING: 'latin1',
  PGTARGETSESSIONATTRS: 'read-only',
  PGCONNECT_TIMEOUT: '1',
  PGTZ: 'Asia/Tokyo',
  PGDATESTYLE: 'German',
  PGDATA: '/nowhere',
}

let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await createTestDatabase()
})

beforeEach(() => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  atTestEnd(() => void vi.unstubAllEnvs())
})

async function sessionOf(sql: Sql) {
  const [row] = await sql`
    select current_user as "user", current_database() as database, 1 as number, current_setting('TimeZone') as zone,
      current_setting('application_name') as name, current_setting('default_transaction_read_only') as "readOnly"`
  return row
}

test('no variable of the environment changes a session of the embedded database', async () => {
  const socketDirectory = decodeURIComponent(new URL(databaseUrl).hostname)
  expect(await sessionOf(connectToEmbedded(socketDirectory))).toEqual({
    user: 'postgres',
    database: 'postgres',
    number: 1,
    zone: 'UTC',
    name: 'a test',
    readOnly: 'off',
  })
})

test('of DATABASE_URL, PGOPTIONS changes all sessions, and an option that nobody knows ends in a sentence that names it', async () => {
  vi.stubEnv('PGOPTIONS', '-c default_transaction_read_only=on')
  expect(await sessionOf(connectTo(databaseUrl))).toMatchObject({ number: 1, readOnly: 'on' })
  vi.stubEnv('PGOPTIONS', '--no-such-option')
  await expect(openDatabase({ dataDir: '', databaseUrl }, { schema: 'check' })).rejects.toThrow(
    /^The PostgreSQL at .* \(with PGPASSWORD, PGOPTIONS and without PGSSLMODE, PGSSLNEGOTIATION of the environment\), which DATABASE_URL names, cannot be used \(.*no-such-option.*\): check its address/,
  )
})
