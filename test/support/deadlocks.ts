import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Sql } from '../../src/server/database/connection/sql.ts'

/**
 * Watches a database for deadlocks. Ends the present connections, so that the new settings apply to all.
 *
 * @returns A function that reads the reports of all deadlocks since. They say which statements waited for each other; a client gets
 *   only the ids of processes. They may quote an applicant's text, so the product leaves them out of the log.
 */
export async function watchDeadlocks(owner: Sql): Promise<() => Promise<string[]>> {
  const [{ name, directory }] = await owner<[{ name: string; directory: string }]>`
    select current_database() as name, current_setting('data_directory') as directory`
  for (const setting of [`log_min_messages = 'error'`, `log_error_verbosity = 'default'`])
    await owner.unsafe(`alter database ${name} set ${setting}`)
  await owner`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()`.catch(
    () => {},
  )
  const readLog = () => readFile(join(directory, '..', 'postgres.log'), 'utf8')
  const logged = await readLog()
  return async () => (await readLog()).slice(logged.length).match(deadlockReport) ?? []
}

/**
 * The report of a deadlock. The lines after its first begin with a tab, or name its detail, context or statement. A function that
 * goes on after a deadlock logs only its code.
 */
const deadlockReport = /^.*(deadlock detected|40P01)(.*\n(\t|.*(DETAIL|HINT|CONTEXT|STATEMENT):).*)*/gm
