import { isIP } from 'node:net'
import { resolve } from 'node:path'

import { OperatorError } from './operator-error.ts'
import {
  databaseProtocols,
  readAddress,
  readKey,
  readNumber,
  webProtocols,
  type Environment,
} from './values.ts'

/** What an operator can set, read from the environment. Names and defaults are the README's table. */
export interface Settings {
  port: number
  host: string
  /** Absolute path of the embedded database's directory. */
  dataDir: string
  databaseUrl: string | undefined
  /** Whether the database at `databaseUrl` is behind a pooler of transactions. */
  databasePooler: 'transaction' | undefined
  anonKey: string
  webhookUrl: string | undefined
  webhookSecret: string | undefined
  /** Inserts a minute from one address; 0 is no limit. */
  rateLimitPerMinute: number
  /** How many proxies, or which address ranges, are believed in `X-Forwarded-For`. */
  trustProxy: false | number | string[]
  /** The public address, for link previews. */
  siteUrl: string | undefined
}

/**
 * Reads the settings once and checks each of them.
 *
 * @param environment The variables, `process.env` unless told otherwise. An empty one counts as not set.
 * @throws {OperatorError} for the first setting that cannot be used: it names it, what it was, and what it
 *   should be.
 */
export function readSettings(environment: Environment = process.env): Settings {
  return {
    port: readNumber(environment, 'PORT', 3000, 65_535),
    host: environment['HOST'] || '127.0.0.1',
    dataDir: resolve(environment['DATA_DIR'] || './data'),
    databaseUrl: databaseUrl(environment),
    databasePooler: pooler(environment['DATABASE_POOLER'] || undefined),
    anonKey: readKey(environment, 'ANON_KEY'),
    webhookUrl: readAddress(environment, 'WEBHOOK_URL', webProtocols),
    webhookSecret: webhookSecret(environment['WEBHOOK_SECRET'] || undefined),
    rateLimitPerMinute: readNumber(environment, 'RATE_LIMIT_PER_MINUTE', 30, 1_000_000),
    trustProxy: trustProxy(environment['TRUST_PROXY'] || undefined),
    siteUrl:
      readAddress(environment, 'SITE_URL', webProtocols) ??
      readAddress(environment, 'VITE_SITE_URL', webProtocols),
  }
}

function databaseUrl(environment: Environment) {
  if (/^[a-z]+:\/\/([^/?#]*@)?[^/?#@]*,/i.test(environment['DATABASE_URL'] ?? '')) {
    throw new OperatorError(
      'DATABASE_URL (not shown: it may hold a password) names several hosts but should name one: the one that takes writes, or the address of a proxy that finds it.',
    )
  }
  return readAddress(environment, 'DATABASE_URL', databaseProtocols)
}

function pooler(given: string | undefined) {
  if (given === undefined || given === 'transaction') return given
  throw new OperatorError(
    `DATABASE_POOLER is "${given}" but should be "transaction", or not set where no pooler is before the database or it pools sessions.`,
  )
}

function webhookSecret(given: string | undefined) {
  if (given === undefined) return undefined
  const bytes = Buffer.from(given.replace(/^whsec_/, ''), 'base64').length
  if (/^(whsec_)?[A-Za-z0-9+/]+={0,2}$/.test(given) && bytes >= 24 && bytes <= 64) return given
  throw new OperatorError(
    'WEBHOOK_SECRET (not shown) should be "whsec_" and 24 to 64 random bytes in base64; ' +
      'this makes one: echo "whsec_$(head -c 32 /dev/urandom | base64)"',
  )
}

function trustProxy(given: string | undefined): Settings['trustProxy'] {
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
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
