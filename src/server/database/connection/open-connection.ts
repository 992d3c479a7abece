import type { ConnectionOptions as TlsOptions } from 'node:tls'
import { Client, types } from 'pg'

import {
  Connection,
  ConnectionError,
  isDatabaseError,
  lostConnection,
  type Address,
  type ConnectionLimits,
} from './connection.ts'

/** Default timeout in milliseconds. A visitor waits for the response: an early error is better than a long silence. */
const usualTimeout = 5_000
/** Milliseconds of silence before the first keep-alive probe. */
const keepAliveDelay = 60_000

/**
 * Opens a connection.
 *
 * @throws {DatabaseError} if the server refuses the connection.
 * @throws {ConnectionError} if the server cannot be reached, or the connection does not have the address's role.
 */
export async function openConnection(address: Address, limits: ConnectionLimits = {}): Promise<Connection> {
  const connection = new Connection(await openClient(address), limits)
  try {
    await checkRole(connection, address.parameters?.['role'])
    return connection
  } catch (error) {
    await connection.close(0)
    throw error
  }
}

/** A pooler may drop a connection's start parameters. */
async function checkRole({ sql }: Connection, role: string | number | undefined) {
  if (role === undefined) return
  const [row] = await sql<[{ role: string }]>`select current_user as role`
  if (row.role !== role)
    throw new ConnectionError('ROLE_LOST', new Error(`the role is ${row.role} and not ${role}`))
}

const noTls = 'The server does not support SSL connections'

async function openClient(address: Address): Promise<Client> {
  const { tls = false } = address
  try {
    return await openWith(address, tls === 'prefer' ? { rejectUnauthorized: false } : tls)
  } catch (error) {
    if (tls !== 'prefer' || !(error instanceof Error) || error.message !== noTls) throw error
    return openWith(address, false)
  }
}

async function openWith(
  {
    host,
    port,
    user,
    password,
    database,
    tlsNegotiation,
    connectTimeout = usualTimeout,
    parameters = {},
  }: Address,
  ssl: false | TlsOptions,
): Promise<Client> {
  const { application_name: name, ...rest } = parameters
  const client = new Client({
    host,
    port,
    user,
    password,
    database,
    ssl,
    sslnegotiation: (ssl !== false && tlsNegotiation) || 'postgres',
    application_name: String(name ?? 'unplugged'),
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelay,
    types: { getTypeParser: typeParser },
  })
  // The driver takes what is missing from the environment: there, options or a replication mode would change each session.
  const { connectionParameters } = client as Client & { connectionParameters: Record<string, unknown> }
  Object.assign(connectionParameters, { options: startOptions(rest), replication: undefined })
  // Errors of idle connections are emitted too, and Node.js exits on an unhandled one.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    client.connection.stream.destroy()
    throw isDatabaseError(error) ? error : lostConnection(error, 'CONNECT_FAILED')
  }
}

/** Parameters in the form of libpq's `options`: the driver has no other way to send arbitrary ones. */
function startOptions(parameters: Record<string, string | number>) {
  const { options = '', ...rest } = parameters
  const given = Object.entries(rest).map(
    ([name, value]) => `-c ${name}=${String(value).replaceAll(/[\\\s]/g, String.raw`\$&`)}`,
  )
  return [String(options), ...given].join(' ').trim()
}

/** A `date` stays a text: as a `Date` it could be another day in another time zone. */
const typeParser: typeof types.getTypeParser = (oid, format) =>
  oid === types.builtins.DATE ? (text: string) => text : types.getTypeParser(oid, format)
