import { table } from '../../application/application.ts'

/** How a table is backed up and restored. */
interface BackupTable {
  /**
   * The columns of its key, if it may have rows in a new database. A restored row replaces the row with the same key.
   */
  key?: string
  /** The columns that are backed up; default all. The others have a server's state, or the site's addresses. */
  columns?: string
  /** A condition on the rows that are backed up; default all. */
  rows?: string
  /**
   * `older`: only older versions have it, and deliveries and invitations have replaced it. `accounts`: our own server's accounts of
   * organisers. Sessions, codes, secrets of factors and keys are left out. In a hosted project these tables are left out, too: the
   * project owns the accounts, and rights mean nothing without them.
   */
  part?: 'older' | 'accounts'
}

/** The names of tables that restores and searches know. */
export const applications = `public.${table}`
export const statuses = 'private.statuses'
export const history = 'private.history'
export const addresses = 'private.addresses'
export const deliveries = 'private.deliveries'
export const accounts = 'auth.users'

/** Every table of a backup, in the order in which the tables can be restored. Older databases and backups lack some of them. */
const tables: Record<string, BackupTable> = {
  [applications]: {},
  'private.webhook_outbox': { part: 'older' },
  'private.answer_outbox': { part: 'older' },
  'private.acceptances': { part: 'older' },
  [statuses]: {},
  'private.marks': {},
  'private.seen_notes': {},
  'private.withdrawal_links': {},
  [history]: {},
  'private.door': { key: 'is_only' },
  'private.templates': { key: 'name' },
  'private.letter_settings': { key: 'is_only' },
  'private.postman': { key: 'is_only', columns: 'is_only, stopped' },
  'private.installation': { key: 'is_only' },
  'private.places': { key: 'is_only', columns: 'is_only, version, places, days, zone' },
  'private.erasures': { key: 'digest' },
  'private.editions': { key: 'id' },
  'private.retention': { key: 'is_only' },
  'private.visits': { key: 'day, source' },
  'private.page': {
    key: 'is_only',
    columns:
      'is_only, version, title, tagline, badge, success, privacy_url, privacy_label, accent, cost, hear_back, about, shows_days, shows_venue, shows_closing',
  },
  'private.first_steps': { key: 'is_only', columns: 'is_only, ticked' },
  'private.letters': {},
  'private.invitations': {},
  [addresses]: {},
  'private.holds': {},
  // A restore must not send notices and test emails again.
  [deliveries]: { rows: "kind not in ('notice', 'test')" },
  'private.failures': {},
  'private.questions': {},
  'private.question_answers': {},
  [accounts]: { part: 'accounts' },
  'auth.identities': { part: 'accounts' },
  'private.organisers': { part: 'accounts' },
}

/** The names of a backup's tables, in the order in which the tables can be restored. */
export const backupTables = Object.keys(tables)

/** How a table of a backup is backed up and restored. */
export const tableOf = (name: string): BackupTable => tables[name] ?? {}
