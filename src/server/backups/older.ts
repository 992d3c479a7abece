import { olderTables } from './manifest.ts'
import { migrations } from '../database/migrations.ts'
import type { Sql } from '../database/sql.ts'

/** Tables of older versions, with the columns that they had at last. Their rows have other tables now. */
const shapes: Record<string, string> = {
  'private.webhook_outbox': `
    application_id uuid, attempts integer, next_attempt_at timestamptz, delivered_at timestamptz, last_status integer,
    waits_since timestamptz, queued_at timestamptz, last_answer text`,
  'private.answer_outbox': `
    id uuid, answer_id bigint, application_id uuid, attempts integer, next_attempt_at timestamptz, waits_since timestamptz,
    queued_at timestamptz, last_answer text`,
}

/** Makes the tables of older versions for the time of a restore. */
export async function makeOlderTables(transaction: Sql): Promise<void> {
  for (const [name, columns] of Object.entries(shapes)) {
    await transaction.unsafe(`create table ${name} (${columns})`)
  }
}

/** Moves their rows to where the migration moved those of a database, and takes them away. */
export async function emptyOlderTables(transaction: Sql): Promise<void> {
  const step = /\n-- What goes where\..*\n([^]*?)\n-- So far what goes where\.\n/
  for (const { sql } of migrations) {
    const [, statements] = step.exec(sql) ?? []
    if (statements !== undefined) await transaction.unsafe(statements)
  }
  await transaction.unsafe(`drop table ${olderTables.join(', ')}`)
}
