import { migrations } from '../database/schema/migration-files.ts'
import type { Sql } from '../database/connection/sql.ts'

/** Tables of older versions, with the columns that they had last. Migrations have moved their rows to other tables. */
const olderColumns: Record<string, string> = {
  'private.webhook_outbox': `
    application_id uuid, attempts integer, next_attempt_at timestamptz, delivered_at timestamptz, last_status integer,
    waits_since timestamptz, queued_at timestamptz, last_answer text`,
  'private.answer_outbox': `
    id uuid, answer_id bigint, application_id uuid, attempts integer, next_attempt_at timestamptz, waits_since timestamptz,
    queued_at timestamptz, last_answer text`,
  'private.acceptances': `
    application_id uuid, token uuid, is_accepted boolean, told_at timestamptz, kept_until date, answer text,
    answered_at timestamptz, is_deadline_set boolean`,
  'private.former_letters': `
    id uuid, application_id uuid, occasion text, edition integer, state text, subject text, body text, created_at timestamptz,
    author text, act uuid, released_at timestamptz, status_version integer, due_at timestamptz, attempts integer, uncertain integer,
    sent_at timestamptz, withdrawn_at timestamptz, answer text, way text, mailbox text, version integer, from_template boolean,
    withdrawn_by text, waits_since timestamptz, closings integer, domain text, otherwise text`,
  'private.former_templates': 'occasion text, version integer, subject text, body text',
}

/** Columns that tables of today had in older versions. Backups have them, and some say where rows go. */
const droppedColumns: Record<string, Record<string, string>> = {
  'private.editions': { since: 'timestamptz', before: 'timestamptz' },
  'private.door': { edition_since: 'timestamptz' },
  'private.templates': { kind: 'text' },
}

/**
 * The table into which the rows of a backup's table are restored. In older versions, the tables `letters` and `templates` had
 * other columns than today's tables of these names.
 *
 * @param row The first of the rows.
 */
export function tableFor(name: string, row: object): string {
  return /^private\.(letters|templates)$/.test(name) && 'occasion' in row
    ? name.replace('.', '.former_')
    : name
}

/** Changes each table that had further columns. */
async function alterColumns(transaction: Sql, change: (name: string, type: string) => string) {
  for (const [table, columns] of Object.entries(droppedColumns)) {
    const changes = Object.entries(columns).map(([name, type]) => change(name, type))
    await transaction.unsafe(`alter table ${table} ${changes.join(', ')}`)
  }
}

/** Creates the tables and columns of older versions for the duration of a restore. */
export async function createOlderTables(transaction: Sql): Promise<void> {
  await alterColumns(transaction, (name, type) => `add column ${name} ${type}`)
  for (const [name, columns] of Object.entries(olderColumns)) {
    await transaction.unsafe(`create table ${name} (${columns})`)
  }
}

/**
 * Moves the rows of these tables to the current tables, and drops the older tables and columns. Migrations have the statements for this,
 * between two comments that mark them.
 */
export async function moveOlderRows(transaction: Sql): Promise<void> {
  const movingStatements = /\n-- What goes where\..*\n([^]*?)\n-- So far what goes where\.\n/
  for (const { sql } of migrations) {
    const [, statements] = movingStatements.exec(sql) ?? []
    if (statements !== undefined) await transaction.unsafe(statements)
  }
  await transaction.unsafe(`drop table ${Object.keys(olderColumns).join(', ')}`)
  await alterColumns(transaction, (name) => `drop column ${name}`)
}

/** Shows no days, venue or closing time on the page before an organiser wants that, as the migration that added the page's words. */
export async function hideFacts(transaction: Sql): Promise<void> {
  await transaction`
    update private.page set (shows_days, shows_venue, shows_closing) = row(false, false, false)
    where exists (select from private.editions where starts_on is not null or venue <> '')
      or exists (select from private.door where closes_at is not null)`
}

/** Gives accounts with an international domain the form of it that the sign-in looks for, as a migration did. */
export async function writeDomainsInAscii(transaction: Sql): Promise<void> {
  const migration = migrations.find(({ name }) => name === 'accounts_with_ascii_domains')
  await transaction.unsafe(migration?.sql ?? '')
}
