import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { parse } from 'pg-connection-string'

import { OperatorError } from '../../../settings/operator-error.ts'
import { redacted, type Environment } from '../../../settings/values.ts'
import type { Address } from './connection.ts'

/** A parsed database address. */
export interface DatabaseAddress {
  address: Address
  /** The database's description for people, without a password, and with the variables that complete the address. */
  description: string
}

/**
 * Reads the address of a database.
 *
 * libpq's channel binding is not supported: `verify-full` gives the same protection. Neither are several hosts, nor what
 * chooses among them, such as `target_session_attrs`.
 *
 * As in libpq, `PGUSER`, `PGPASSWORD`, `PGDATABASE` and `PGOPTIONS` complete the address. All other variables of libpq have no
 * effect.
 *
 * @param text The address in libpq's format, including its TLS parameters.
 * @param environment The variables; default `process.env`.
 * @throws {OperatorError} if the address cannot be read, or its `sslmode` is not supported.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
 */
export function parseAddress(text: string, environment: Environment = process.env): DatabaseAddress {
  const url = new URL(text)
  const mode = sslMode(url.searchParams)
  url.searchParams.delete('ssl')
  // `system` means the certificates that Node.js trusts by default.
  if (url.searchParams.get('sslrootcert') === 'system') url.searchParams.delete('sslrootcert')
  if (mode !== undefined) url.searchParams.set('sslmode', mode)
  const { host, port, ssl, sslnegotiation, connect_timeout, ...given } = parseUrl(url)
  const fromEnvironment = completing.filter(([part, name]) => !given[part] && environment[name])
  const { user, password, database, ...rest } = fromEnvironment.reduce(
    (parts, [part, name]) => ({ ...parts, [part]: environment[name] }),
    given,
  )
  // The driver reads it if the server asks for a password.
  const passwordFile = !password && environment['PGPASSFILE'] ? ['PGPASSFILE'] : []
  const hostName = host || 'localhost'
  const parameters = Object.entries(rest).filter(([key]) => !libpqParameters.test(key))
  return {
    address: {
      host: hostName,
      port: port ? Number(port) : 5432,
      ...(user ? { user } : {}),
      ...(password ? { password } : {}),
      ...(database ? { database } : {}),
      ...(connect_timeout ? { connectTimeout: Number(connect_timeout) * 1_000 } : {}),
      ...(sslnegotiation ? { tlsNegotiation: sslnegotiation } : {}),
      tls: tlsOf(mode, ssl),
      parameters: Object.fromEntries(parameters) as Record<string, string>,
    },
    description: [
      `PostgreSQL at ${isIP(hostName) === 6 ? `[${hostName}]` : hostName}${port ? `:${port}` : ''}/${database ?? ''}`,
      ...aboutEnvironment(
        [...fromEnvironment.map(([, name]) => name), ...passwordFile],
        Object.keys(environment).filter((name) => withoutEffect.test(name) && environment[name]),
      ),
    ].join(' '),
  }
}

/** Parts of an address, and the variable for each that counts if the address lacks it. */
const completing = [
  ['user', 'PGUSER'],
  ['password', 'PGPASSWORD'],
  ['database', 'PGDATABASE'],
  ['options', 'PGOPTIONS'],
] as const

/** Variables by which libpq protects a connection, so that somebody may rely on them. */
const withoutEffect = /^PG(SSL|REQUIRE|CHANNELBINDING|GSSENCMODE)/

function aboutEnvironment(used: readonly string[], unused: readonly string[]) {
  const parts = [
    ...(used.length > 0 ? [`with ${used.join(', ')}`] : []),
    ...(unused.length > 0 ? [`without ${unused.toSorted().join(', ')}`] : []),
  ]
  return parts.length > 0 ? [`(${parts.join(' and ')} of the environment)`] : []
}

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

function sslMode(parameters: URLSearchParams) {
  const ssl = parameters.get('ssl')
  const modeOfSsl = ssl === null ? undefined : ['0', 'false'].includes(ssl) ? 'disable' : 'require'
  const mode = parameters.get('sslmode') ?? modeOfSsl
  if (mode === undefined || modes.includes(mode)) {
    if (mode !== 'verify-ca' || parameters.has('sslrootcert')) return mode
    throw new OperatorError(
      'DATABASE_URL has sslmode=verify-ca but no sslrootcert: name the file of the authority that signed the certificate, or take sslmode=verify-full.',
    )
  }
  throw new OperatorError(
    `DATABASE_URL has sslmode=${mode} but should have disable, prefer, require, verify-ca or verify-full.`,
  )
}

function parseUrl(url: URL) {
  try {
    return parse(url.href, { useLibpqCompat: true })
  } catch (cause) {
    const { path, message } = cause as NodeJS.ErrnoException
    const [name] = [...url.searchParams].find(([, value]) => path !== undefined && value === path) ?? []
    throw new OperatorError(
      name === undefined
        ? `DATABASE_URL ${redacted(url.href)} cannot be read (${message}).`
        : `DATABASE_URL has ${name}=${path}, which cannot be read: it should be the path of a PEM file.`,
      { cause },
    )
  }
}

type Tls = ReturnType<typeof parse>['ssl']

function tlsOf(mode: string | undefined, ssl: Tls): false | 'prefer' | ConnectionOptions {
  if (ssl === false || ssl === undefined) return false
  if (mode === 'allow' || mode === 'prefer') return 'prefer'
  return typeof ssl === 'object' ? (ssl as ConnectionOptions) : {}
}

/** Parameters for libpq itself or for other drivers. PostgreSQL's server does not know them. */
const libpqParameters =
  /^(ssl.*|gss.*|krb.*|keepalives.*|tcp_.*|channel_binding|require_.*|hostaddr|passfile|service.*|target_session_attrs|load_balance_hosts|(min|max)_protocol_version|client_encoding|fallback_application_name|pgbouncer|connection_limit|pool_timeout)$/
