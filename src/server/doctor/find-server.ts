import type { Settings } from '../../settings/server-settings.ts'
import { addressOf } from '../site-url.ts'
import { listeningHolder } from '../database/postgres/holder-lock.ts'
import { readDatabaseId } from '../database/connection/database-id.ts'
import type { Sql } from '../database/connection/sql.ts'
import { oneLine } from '../finding.ts'
import { instancePath } from '../health/proxy-check.ts'

/** Timeout of each response, in milliseconds. */
const timeout = 8_000

/** The response of an address; or the problem if no response came, and whether a connection was made. */
export type Response =
  | { status: number; body: Record<string, unknown>; location: string | null }
  | { problem: string; isConnected: boolean }

/** The program that listens at an address of this machine. */
export type Listener =
  | 'a server on this database'
  | 'a server on another database'
  | 'another program'
  /** It accepts connections but does not respond: our own server that hangs, or another program. */
  | 'silence'
  | 'nothing'

/** The address where a server should listen on this machine. */
type Listening = Pick<Settings, 'host' | 'port'>

/**
 * The address of the server that has locked the embedded database. Without such a server, the address in the settings;
 * undefined for `PORT=0`.
 */
export async function readServerAddress(sql: Sql, settings: Listening): Promise<string | undefined> {
  return addressFrom(await listeningHolder(sql), settings)
}

/** As `readServerAddress`. `holder` is the server that has locked the embedded database, if any. */
export function addressFrom(holder: Listening | undefined, settings: Listening): string | undefined {
  const { host, port } = holder !== undefined && holder.port !== 0 ? holder : settings
  return port === 0 ? undefined : addressOf(host, port).origin
}

/**
 * Finds out which program listens at an address of this machine.
 *
 * @param address An origin.
 * @returns The listener, and what to do if it is not a server on this database.
 */
export async function findListener(sql: Sql, address: string) {
  const [response, databaseId] = await Promise.all([ask(`${address}${instancePath}`), readDatabaseId(sql)])
  const listener = listenerFrom(response, databaseId)
  return { listener, problem: problemOf(listener, address, response) }
}

/**
 * Identifies a listener by its response to `/instance`.
 *
 * @param databaseId Our database's id; null or undefined if it is unknown.
 */
export function listenerFrom(response: Response, databaseId: string | null | undefined): Listener {
  if ('problem' in response) {
    if (!response.isConnected) return 'nothing'
    return response.problem === noResponse ? 'silence' : 'another program'
  }
  if (!('mark' in response.body)) return 'another program'
  return isSameDatabase(response, databaseId) ? 'a server on this database' : 'a server on another database'
}

/**
 * Whether a response is from a server on our database, whose id is in `mark`. If either id is unknown, the server counts as
 * ours.
 */
export function isSameDatabase(response: Response, databaseId: string | null | undefined) {
  const theirs = stringField(response, 'mark')
  return typeof databaseId !== 'string' || theirs === undefined || theirs === databaseId
}

/** The sentence about a listener that is not our server; undefined if it is our server, or if nothing listens. */
export function problemOf(listener: Listener, address: string, response: Response): string | undefined {
  switch (listener) {
    case 'a server on this database':
    case 'nothing':
      return undefined
    case 'a server on another database':
      return `The server at ${address} uses another database than this one: stop it, or set PORT.`
    case 'another program': {
      const detail = 'problem' in response ? response.problem : `HTTP ${response.status}`
      return `Another program listens at ${address} (${detail}): stop it, or set PORT to another.`
    }
    case 'silence':
      return `A program listens at ${address} and does not respond within ${timeout / 1000} s: restart the server if it is ours; otherwise stop it, or set PORT to another.`
  }
}

const noResponse = `no response within ${timeout / 1000} s`

/** Error codes that mean that no connection was made. */
const unconnected =
  /^(ECONNREFUSED|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ETIMEDOUT|EINVAL|UND_ERR_CONNECT_TIMEOUT)$/

/** Requests an address. The body is empty if the response is not a JSON object. */
export async function ask(address: string, headers: Record<string, string> = {}): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(timeout)
    const response = await fetch(address, { redirect: 'manual', headers, signal })
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const parsed = isJson ? ((await response.json()) as unknown) : undefined
    if (!isJson) await response.body?.cancel()
    const body = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
    return { status: response.status, body, location: response.headers.get('location') }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      return { problem: noResponse, isConnected: true }
    }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    if (!(cause instanceof Error)) return { problem: String(cause), isConnected: true }
    // `fetch` refuses the ports of some other services, with an error that has no code.
    const isConnected = 'code' in cause ? !unconnected.test(String(cause.code)) : cause.message !== 'bad port'
    return { problem: oneLine(cause.message || String(cause)), isConnected }
  }
}

/** A string in a response's body. */
export function stringField(response: Response, name: string) {
  const value = 'problem' in response ? undefined : response.body[name]
  return typeof value === 'string' ? value : undefined
}
