import { writtenAddress } from '../settings/listen-address.ts'
import { hostAndPort } from '../settings/mail-settings.ts'
import { version } from '../settings/version.ts'
import { openFilesProblem } from './open-files.ts'
import { checkSupport } from './node-security-releases.ts'
import type { Settings } from '../settings/server-settings.ts'
import { resolveTimeZone } from '../settings/time-zone.ts'

/** The result of the backup that precedes an update of the schema. */
export type BackupBefore = 'made' | 'failed' | 'not set'

const afterBackup: Record<BackupBefore, string> = {
  made: 'docs/operate.md#go-back says how to go back to the former version.',
  failed:
    'The backup that precedes an update failed, and the log says why: to go back, restore an earlier backup (docs/operate.md#go-back).',
  'not set':
    'No backup was made before the update, since BACKUP_DIR is not set: set it to a folder that exists, and the next update makes one (docs/operate.md#go-back).',
}

/**
 * The start line about the schema.
 *
 * @param count The number of applied migrations.
 * @param backup The result of the backup; undefined if the database was empty before.
 */
export function migrationLine(count: number, backup: BackupBefore | undefined): string {
  const migrations = `${count} migration${count === 1 ? '' : 's'}`
  return backup === undefined
    ? `The schema was created by ${migrations}.`
    : `The schema was updated by ${migrations}. ${afterBackup[backup]}`
}

/** The facts about a started server. */
interface Started {
  /** The data's location, in words for people. */
  description: string
  /** Whether this start created the database. */
  isNew: boolean
  /** The port that the server listens on. */
  port: number
  isRoot: boolean
  /** The limit of open files; undefined if it is unknown. */
  openFiles: number | undefined
}

/** The lines that a server prints when it is ready. The last line has its address. */
export function startLines(
  { host, webhookUrl, mailServer, backupDir, backupAt, metricsAddress }: Settings,
  { description, isNew, port, isRoot, openFiles }: Started,
): string[] {
  const problems = [checkSupport().problem, resolveTimeZone(), openFilesProblem(openFiles)]
  return [
    `This is version ${version}.`,
    ...problems.filter((problem) => problem !== undefined),
    ...(isRoot
      ? ['This runs as root. A user of its own is safer: deploy/unplugged.service says how to make one.']
      : []),
    `The applications are in ${description}.`,
    ...(isNew ? ['The database is new: there was none in DATA_DIR.'] : []),
    webhookUrl === undefined
      ? 'No webhook is set (WEBHOOK_URL).'
      : `The webhook is at ${new URL(webhookUrl).origin}.`,
    mailServer === undefined
      ? 'No mail server is set (SMTP_URL): no emails are sent.'
      : `Emails are sent by ${Object.values(hostAndPort(mailServer)).join(':')}.`,
    backupDir === undefined
      ? 'No backups are made automatically (BACKUP_DIR).'
      : `A backup is made each day at ${backupAt}, into ${backupDir}.`,
    ...(metricsAddress === undefined
      ? []
      : [`The metrics are at http://${writtenAddress(metricsAddress)}/metrics.`]),
    `Unplugged. is ready at http://${writtenAddress({ host, port })}/`,
  ]
}
