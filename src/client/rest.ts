import { keyHeaders } from './public-key.ts'
import { withRetry } from './retry.ts'

/** The address of a backend's data interface, and its public key. */
export interface DataInterface {
  /** The backend's address; null if it is the address of the page. */
  url: string | null
  /** The public key, which every visitor may know. */
  anonKey: string
}

/** A request of the data interface. */
export interface RestRequest {
  url: string
  init: { method: string; headers: Record<string, string>; body: string }
}

/** A refusal by the database, or by a server in front of it, with its own message. */
export class RefusedCall extends Error {
  override name = 'RefusedCall'
  /** The code of PostgreSQL or PostgREST; blank if a server in front of them refused. */
  code: string
  status: number

  constructor(message: string, code = '', status = 0) {
    super(message)
    this.code = code
    this.status = status
  }
}

/**
 * Creates the request that inserts a row into a table, or calls a function.
 *
 * @param path The table's name, or `rpc/` and the function's.
 * @param body The row, or the arguments by name.
 * @param token The access token of a signed-in person; omitted for visitors.
 * @see https://docs.postgrest.org/en/stable/references/api.html
 */
export function requestOf(
  { url, anonKey }: DataInterface,
  path: string,
  body: object,
  token?: string,
): RestRequest {
  const base = url ?? new URL('.', location.href).href
  return {
    url: `${base.replace(/\/$/, '')}/rest/v1/${path}`,
    init: {
      method: 'POST',
      headers: { ...keyHeaders(anonKey, token), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
  }
}

/**
 * Sends a request, retries it until it reaches its server and database, and reads the response.
 *
 * @param delays Milliseconds before the second try, the third and so on.
 * @throws The errors of `parseResponse`; a `TypeError` if no response arrived; the signal's reason.
 */
export async function send(
  { url, init }: RestRequest,
  delays: readonly number[],
  signal: AbortSignal | null,
  fetcher = fetch,
): Promise<unknown> {
  return parseResponse(await withRetry(() => fetcher(url, { ...init, signal }), delays, signal))
}

/**
 * Reads a response: JSON, or null for an empty one.
 *
 * @throws {RefusedCall} if the call was refused.
 * @throws {SyntaxError} if a program other than the backend responded, such as a proxy. The error has no message, since that
 *   program's text is not meant for visitors.
 * @see https://docs.postgrest.org/en/stable/references/errors.html
 */
export async function parseResponse(response: Response): Promise<unknown> {
  const text = await response.text()
  if (response.ok && text === '') return null
  const reply = parseJson(text) as { message?: unknown; code?: string } | null | undefined
  if (response.ok && reply !== undefined) return reply
  if (typeof reply?.message !== 'string') throw new SyntaxError()
  throw new RefusedCall(reply.message, reply.code, response.status)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
