import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { ensureCluster } from '../../src/server/database/postgres/cluster.ts'
import { openDatabase } from '../../src/server/database/database.ts'
import { installReset } from './reset.ts'
import { copyPrepared } from './server.ts'

/**
 * Makes an empty database in the folder `cluster`, and one with the schema in the folder `database`, which does not exist yet.
 */
export async function prepareDatabases(cluster: string, database: string): Promise<void> {
  await (await ensureCluster(cluster, true)).stop()
  await rm(join(cluster, 'postgres.log'))
  // A database that is killed and never started again would leave its shared memory in /dev/shm.
  await appendFile(join(cluster, 'pgdata', 'postgresql.conf'), 'dynamic_shared_memory_type = mmap\n')

  await copyPrepared('cluster', database)
  const opened = await openDatabase({ dataDir: database, databaseUrl: undefined }, { schema: 'migrate' })
  await installReset(opened.owner)
  await opened.close()
  await rm(join(database, 'postgres.log'))
}
