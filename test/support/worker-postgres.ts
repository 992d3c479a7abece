import { appendFile, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

import { ensureCluster } from '../../src/server/database/postgres/cluster.ts'
import { createPool, type Pool } from '../../src/server/database/connection/pool.ts'
import { embedded } from '../../src/server/database/postgres/start-stop.ts'
import { atTestEnd } from './cleanup.ts'
import { postmasterOf } from './postmaster.ts'
import { copyPrepared } from './server.ts'

/** Settings of a PostgreSQL that never has to survive a crash. */
const settings = 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n'

interface WorkerPostgres {
  directory: string
  /** Connections to another database than the one that is copied, which may have none. */
  admin: Pool
}

let running: Promise<WorkerPostgres> | undefined
let databaseCount = 0

/**
 * Creates a database with the current schema, on a PostgreSQL that all files of a Vitest worker share. It is dropped with the test
 * or file.
 *
 * @returns Its address.
 */
export async function createTestDatabase(): Promise<string> {
  const { directory, admin } = await workerPostgres()
  databaseCount += 1
  const name = `test_${databaseCount}`
  atTestEnd(() => admin.unsafe(`drop database if exists ${name} with (force)`))
  // The default strategy writes each page to the WAL.
  await admin.unsafe(`create database ${name} template postgres strategy file_copy`)
  return `postgres://postgres@${encodeURIComponent(directory)}/${name}`
}

/** The PostgreSQL of this worker, which the first call starts. */
export function workerPostgres(): Promise<WorkerPostgres> {
  return (running ??= start())
}

async function start(): Promise<WorkerPostgres> {
  const { TEST_RUN = '' } = process.env
  const directory = await mkdtemp(`${TEST_RUN}/`)
  await copyPrepared('database', directory)
  await appendFile(join(directory, 'pgdata', 'postgresql.conf'), settings)
  await ensureCluster(directory, true)
  const pid = await postmasterOf(directory)
  // Vitest ends a worker with SIGTERM.
  process.once('SIGTERM', () => process.exit())
  process.once('exit', () => {
    if (pid !== undefined) process.kill(pid, 'SIGQUIT')
  })
  return { directory, admin: createPool({ ...embedded(directory), database: 'template1' }, { size: 2 }) }
}
