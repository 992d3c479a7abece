import { isIP } from 'node:net'
import { resolve, sep } from 'node:path'

import type { OperatorLook } from '../design/look.ts'
import { withFiles } from './values-from-files.ts'
import { readListenAddress, type ListenAddress } from './listen-address.ts'
import { readLook } from './look-settings.ts'
import { readMailServer, type MailServer } from './mail-settings.ts'
import { OperatorError } from './operator-error.ts'
import {
  checkedPort,
  databaseProtocols,
  isEncoded,
  namesSeveralHosts,
  readAddress,
  readKey,
  readNumber,
  readPublicAddress,
  redacted,
  webProtocols,
  type Environment,
} from './values.ts'

/** The settings, read from the environment. docs/operate.md lists their names and defaults. */
export interface Settings {
  port: number
  host: string
  /** The address that serves the metrics; undefined for none. */
  metricsAddress: ListenAddress | undefined
  /** Absolute path of the embedded database's directory. */
  dataDir: string
  databaseUrl: string | undefined
  /** `transaction` if `databaseUrl` leads to a pooler in transaction mode. */
  databasePooler: 'transaction' | undefined
  /**
   * Absolute path of a folder with the programs of an installed PostgreSQL, which run the embedded database. Undefined means the
   * programs that npm installs.
   */
  postgresBin: string | undefined
  anonKey: string
  webhookUrl: string | undefined
  webhookSecret: string | undefined
  /** The webhook that receives each released decision, in place of the letter or in addition to it, and each RSVP. */
  webhookDecisionsUrl: string | undefined
  /** The most tries a minute at each webhook, from this server; 0 is no limit. */
  webhookPerMinute: number
  /** The most applications a minute from one IP address; 0 is no limit. */
  rateLimitPerMinute: number
  /** How many proxies, or which address ranges, are trusted in `X-Forwarded-For`. */
  trustProxy: false | number | string[]
  /** The public address, for link previews, the links in letters, and sign-in links with their redirect targets. */
  siteUrl: string | undefined
  /** The words and the look of the pages. */
  look: OperatorLook
  /** The address for reports of security faults, `mailto:` or `https://`; undefined for none. */
  securityContact: string | undefined
  /** Undefined if no emails are sent. */
  mailServer: MailServer | undefined
  /** Absolute path of the folder for automatic backups; undefined for none. */
  backupDir: string | undefined
  /** The time of day when a backup is made, in this machine's time zone: hours and minutes. */
  backupAt: string
  /** How many automatic backups are kept. */
  backupKeep: number
  /** The most letters a minute, over all servers on the database; 0 is no limit. */
  mailPerMinute: number
  /** The lowest level of the log's lines. */
  logLevel: LogLevel
}

const logLevels = ['info', 'warn', 'error'] as const
/** A level of the log's lines. */
export type LogLevel = (typeof logLevels)[number]

/**
 * Reads the settings and checks each of them.
 *
 * @param variables The variables; default `process.env`. An empty one counts as not set. `NAME_FILE` names a file with the value.
 * @throws {OperatorError} for the first setting that cannot be used. The message has its name, what it should be, and its value
 *   without secrets.
 */
export function readSettings(variables: Environment = process.env): Settings {
  const environment = withFiles(variables)
  return {
    port: readNumber(environment, 'PORT', 3000, 65_535),
    host: environment['HOST'] || '127.0.0.1',
    metricsAddress: readListenAddress(environment, 'METRICS_ADDRESS'),
    dataDir: readDataDir(environment),
    databaseUrl: readDatabaseUrl(environment),
    databasePooler: readPooler(environment['DATABASE_POOLER'] || undefined),
    postgresBin: environment['POSTGRES_BIN'] ? resolve(environment['POSTGRES_BIN']) : undefined,
    anonKey: readKey(environment, 'ANON_KEY'),
    webhookUrl: readWebhookUrl(environment, 'WEBHOOK_URL'),
    webhookDecisionsUrl: readWebhookUrl(environment, 'WEBHOOK_DECISIONS_URL'),
    webhookSecret: readWebhookSecret(environment['WEBHOOK_SECRET'] || undefined),
    webhookPerMinute: readNumber(environment, 'WEBHOOK_PER_MINUTE', 3_000, 1_000_000),
    rateLimitPerMinute: readNumber(environment, 'RATE_LIMIT_PER_MINUTE', 30, 1_000_000),
    trustProxy: readTrustProxy(environment['TRUST_PROXY'] || undefined),
    siteUrl: readPublicAddress(environment, 'SITE_URL') ?? readPublicAddress(environment, 'VITE_SITE_URL'),
    securityContact: readContact(environment['SECURITY_CONTACT'] || undefined),
    look: readLook(environment, 'SITE'),
    mailServer: readMailServer(environment),
    mailPerMinute: readNumber(environment, 'MAIL_PER_MINUTE', 60, 1_000_000),
    backupDir: readBackupDir(environment),
    backupAt: readBackupAt(environment['BACKUP_AT'] || '03:00'),
    backupKeep: readBackupKeep(environment),
    logLevel: readLogLevel(environment['LOG_LEVEL'] || 'info'),
  }
}

function readLogLevel(given: string) {
  const level = logLevels.find((each) => each === given.toLowerCase())
  if (level !== undefined) return level
  throw new OperatorError(`LOG_LEVEL is "${given}" but should be info, warn or error.`)
}

function readDataDir(environment: Environment) {
  return resolve(environment['DATA_DIR'] || './data')
}

function readBackupDir(environment: Environment) {
  const given = environment['BACKUP_DIR']
  if (!given) return undefined
  const dir = resolve(given)
  const dataDir = readDataDir(environment)
  if (environment['DATABASE_URL'] || !`${dir}${sep}`.startsWith(`${dataDir}${sep}`)) return dir
  throw new OperatorError(
    `BACKUP_DIR is "${dir}", which lies in DATA_DIR and would be lost with it: name a folder elsewhere, best on another disk.`,
  )
}

function readBackupAt(given: string) {
  if (/^([01]\d|2[0-3]):[0-5]\d$/.test(given)) return given
  throw new OperatorError(
    `BACKUP_AT is "${given}" but should be a time of day from 00:00 to 23:59, such as 03:00.`,
  )
}

function readBackupKeep(environment: Environment) {
  const keep = readNumber(environment, 'BACKUP_KEEP', 14, 10_000)
  if (keep > 0) return keep
  throw new OperatorError('BACKUP_KEEP is "0" but should be at least 1: the newest backup is always kept.')
}

function readDatabaseUrl(environment: Environment) {
  const given = environment['DATABASE_URL']?.trim() ?? ''
  if (/^postgres(ql)?:\/\//i.test(given)) {
    if (namesSeveralHosts(given)) {
      throw new OperatorError(
        `DATABASE_URL ${redacted(given)} names several hosts but should name one: the one that takes writes, or the address of a proxy that finds it.`,
      )
    }
    if (!isEncoded(given)) {
      throw new OperatorError(
        `DATABASE_URL ${redacted(given)} cannot be read: its port is a number up to 65535, and signs such as # / ? @ % in its user and password should be percent-encoded, so that # is %23.`,
      )
    }
  }
  return readAddress(environment, 'DATABASE_URL', databaseProtocols)
}

function readWebhookUrl(environment: Environment, name: 'WEBHOOK_URL' | 'WEBHOOK_DECISIONS_URL') {
  const given = readAddress(environment, name, webProtocols)
  if (given === undefined) return undefined
  const { username, password } = new URL(given)
  if (!isEncoded(`http://${username}:${password}@host`)) {
    throw new OperatorError(
      `${name} ${redacted(given)} cannot be read: the sign % in its user and password should be written %25.`,
    )
  }
  return checkedPort(name, given)
}

function readPooler(given: string | undefined) {
  if (given === undefined || given === 'transaction') return given
  throw new OperatorError(
    `DATABASE_POOLER is "${given}" but should be "transaction" if a pooler in transaction mode is in front of the database. Otherwise, remove it.`,
  )
}

function readWebhookSecret(given: string | undefined) {
  if (given === undefined) return undefined
  const bytes = Buffer.from(given.replace(/^whsec_/, ''), 'base64').length
  if (/^(whsec_)?[A-Za-z0-9+/]+={0,2}$/.test(given) && bytes >= 24 && bytes <= 64) return given
  throw new OperatorError(
    'WEBHOOK_SECRET (not shown) should be "whsec_" and 24 to 64 random bytes in base64; ' +
      'this makes one: echo "whsec_$(head -c 32 /dev/urandom | base64)"',
  )
}

function readContact(given: string | undefined) {
  if (given === undefined || /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(given)) return given
  throw new OperatorError(
    `SECURITY_CONTACT is "${given}" but should be "mailto:" and an email address, or an address that begins with https://.`,
  )
}

function readTrustProxy(given: string | undefined): Settings['trustProxy'] {
  if (given === undefined || given === '0' || given === 'off') return false
  if (/^\d{1,3}$/.test(given)) return Number(given)
  const ranges = given.split(',').map((range) => range.trim())
  if (ranges.every(isAddressRange)) return ranges
  throw new OperatorError(
    `TRUST_PROXY is "${given}" but should be the number of proxies before this server, ` +
      'or their addresses or ranges, such as "10.0.0.0/8, 127.0.0.1".',
  )
}

function isAddressRange(range: string) {
  const [start = '', bits, ...rest] = range.split('/')
  const version = isIP(start)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
