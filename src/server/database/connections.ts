import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type ConnectionOptions } from 'node:tls'
import postgres, { type Sql } from 'postgres'

import { OperatorError } from '../operator-error.ts'

/** The two kinds of connections to one database. */
export interface Connections {
  /** Of the schema's owner, who may read everything. */
  owner: Sql
  /** Of a visitor. */
  anon: VisitorConnections
  end: () => Promise<void>
}

/** Connections that may do what a visitor may, and nothing else. */
export interface VisitorConnections {
  /**
   * Runs one statement.
   *
   * @param parameters Its `$1` and so on.
   * @param options.prepare Whether the statement comes often enough to be kept prepared, where that can be.
   * @returns How many rows it touched.
   */
  execute(statement: string, parameters?: string[], options?: { prepare: boolean }): Promise<number>
}

type Options = postgres.Options<Record<string, never>>

/** Milliseconds after which a visitor's statement is given up. */
const statementTimeout = 10_000

const common: Options = {
  // A visitor waits for the answer: better a clear "not now" soon than silence.
  connect_timeout: 5,
  backoff: () => 0.25,
  // Its only use is for arrays, and it costs a query on each new connection.
  fetch_types: false,
  onnotice: () => {},
}

/** A connection, or several, to the embedded database as its superuser. */
export function socketConnection(dataDir: string, options: Options): Sql {
  return postgres({
    ...common,
    ...options,
    host: dataDir,
    port: 5432,
    user: 'postgres',
    database: 'postgres',
  })
}

/** Connections to the embedded database. */
export function connectToSocket(dataDir: string): Connections {
  return direct((options) => socketConnection(dataDir, options))
}

/**
 * Connections to the database at an address.
 *
 * @param address As libpq takes it, `sslmode` and `sslrootcert` included.
 * @param pooler Whether a pooler stands before it that gives each transaction another connection.
 * @throws {OperatorError} where the address asks for TLS in a way that is not there.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
 */
export function connectToAddress(address: string, pooler: 'transaction' | undefined): Connections {
  const url = new URL(address)
  const ssl = tlsOptions(url)
  for (const name of ['ssl', 'sslmode', 'sslrootcert']) url.searchParams.delete(name)
  const connect = (options: Options) => postgres(url.href, { ...common, ...options, ssl })
  return pooler === undefined ? direct(connect) : pooled(connect)
}

function direct(connect: (options: Options) => Sql): Connections {
  const owner = connect({ max: 4, connection: { application_name: 'unplugged' } })
  const anon = connect({
    max: 10,
    // The role is part of the connection: setting it in each transaction would halve the rate of inserts.
    connection: {
      application_name: 'unplugged visitors',
      role: 'anon',
      statement_timeout: statementTimeout,
    },
  })
  return {
    owner,
    anon: {
      execute: async (statement, parameters, options) =>
        (await anon.unsafe(statement, parameters, options)).count,
    },
    end: () => end(owner, anon),
  }
}

/** Such a pooler takes no role with a connection, and forgets what was prepared on it. */
function pooled(connect: (options: Options) => Sql): Connections {
  const owner = connect({ max: 4, prepare: false, connection: { application_name: 'unplugged' } })
  const anon = connect({
    max: 10,
    prepare: false,
    connection: { application_name: 'unplugged visitors' },
  })
  return {
    owner,
    anon: {
      execute: (statement, parameters) =>
        anon.begin(async (transaction) => {
          // Sent together. Where the role is refused, the transaction is over and so is the statement.
          const [, { count }] = await Promise.all([
            transaction.unsafe(`set local role anon; set local statement_timeout = ${statementTimeout}`),
            transaction.unsafe(statement, parameters),
          ])
          return count
        }),
    },
    end: () => end(owner, anon),
  }
}

async function end(...all: Sql[]) {
  await Promise.all(all.map((sql) => sql.end({ timeout: 5 })))
}

/** libpq's modes of TLS, as far as they can be told apart here. */
function tlsOptions({
  hostname,
  searchParams: parameters,
}: URL): false | 'prefer' | 'require' | ConnectionOptions {
  const rootCertificate = parameters.get('sslrootcert')
  const given = parameters.get('sslmode') ?? parameters.get('ssl')?.replace('true', 'require')
  const mode = given ?? (rootCertificate === null ? 'disable' : 'verify-full')
  const address = hostname.replaceAll(/^\[|\]$/g, '')
  if (mode === 'disable') return false
  if (mode === 'allow' || mode === 'prefer') return 'prefer'
  if (mode === 'require' && rootCertificate === null) return 'require'
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new OperatorError(
      `DATABASE_URL has sslmode=${mode} but should have disable, prefer, require, verify-ca or verify-full.`,
    )
  }
  return {
    rejectUnauthorized: true,
    ...(rootCertificate === null || rootCertificate === 'system'
      ? {}
      : { ca: readCertificate(rootCertificate) }),
    // As libpq: with a root certificate, `require` checks the chain too, but not the host's name. Where the host
    // is an address, Node.js would be told no name and take the certificate of "localhost".
    checkServerIdentity: (name, certificate) =>
      mode === 'verify-full' ? checkServerIdentity(isIP(address) ? address : name, certificate) : undefined,
  }
}

function readCertificate(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new OperatorError(
      `DATABASE_URL has sslrootcert=${path}, which cannot be read: it should be the path of a certificate.`,
      { cause },
    )
  }
}

/**
 * Says what to do where a database cannot be used.
 *
 * @param description Which one, for people.
 * @returns The error itself where it is none of the address's.
 */
export function unreachable(error: unknown, description: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  if (code === '08P01' && error.message.includes('startup parameter')) {
    return new OperatorError(
      `The ${description}, which DATABASE_URL names, is a pooler (${error.message}): set DATABASE_POOLER=transaction.`,
      { cause: error },
    )
  }
  // Class 08: not understood; 28: refused; 3D000: no such database; 42704: an unknown parameter in the address;
  // the rest are the network's, OpenSSL's and the driver's.
  if (!/^(08|28|3D000|42704|E[A-Z_]+$|ERR_SSL|CONNECT|.*CERT|.*SIGNATURE)/.test(code)) return error
  return new OperatorError(
    `The ${description}, which DATABASE_URL names, cannot be used (${error.message}): check its address, parameters, user and password, and that it runs.`,
    { cause: error },
  )
}
