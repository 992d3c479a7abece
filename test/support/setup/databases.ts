import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { ensureCluster } from '../../../src/server/database/cluster.ts'
import { openDatabase } from '../../../src/server/database/database.ts'
import { dataDirectory, temporaryDirectory } from '../server.ts'

/** Runs before tests of the database. Makes an empty database and one with the schema, which tests copy. */
export default async function setup(): Promise<void> {
  if (process.env['PREPARED_DATABASE'] !== undefined) return
  const cluster = await temporaryDirectory()
  await (await ensureCluster(cluster.path, true)).stop()
  await rm(join(cluster.path, 'postgres.log'))
  // A database that is killed and never started again would leave its shared memory in /dev/shm.
  await appendFile(join(cluster.path, 'pgdata', 'postgresql.conf'), 'dynamic_shared_memory_type = mmap\n')
  process.env['PREPARED_CLUSTER'] = cluster.path

  const database = await dataDirectory('cluster')
  await (
    await openDatabase({ dataDir: database.path, databaseUrl: undefined }, { schema: 'migrate' })
  ).close()
  await rm(join(database.path, 'postgres.log'))
  process.env['PREPARED_DATABASE'] = database.path
}
