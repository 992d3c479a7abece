/**
 * Calls a function of the data interface.
 *
 * @param pauses Milliseconds before the second try, the third one and so on.
 */
export type CallFunction = (
  name: string,
  given: object,
  signal: AbortSignal,
  pauses?: readonly number[],
) => Promise<unknown>

/** A refusal by the database, or by a server in front of it, with its own message. */
export class RefusedCall extends Error {
  override name = 'RefusedCall'
  /** PostgreSQL's or PostgREST's; blank where somebody else answered. */
  code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/**
 * The request that calls a function.
 *
 * @param base The backend's address, without a slash at its end.
 * @see https://docs.postgrest.org/en/stable/references/api/functions.html
 */
export function requestOf(
  base: string,
  anonKey: string,
  token: string,
  name: string,
  given: object,
): { url: string; init: { method: string; headers: Record<string, string>; body: string } } {
  return {
    url: `${base}/rest/v1/rpc/${name}`,
    init: {
      method: 'POST',
      headers: { apikey: anonKey, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(given),
    },
  }
}

/**
 * What a function answered.
 *
 * @throws {RefusedCall} where it was refused; a `SyntaxError` where what came is no answer of the backend.
 * @see https://docs.postgrest.org/en/stable/references/errors.html
 */
export async function answerIn(response: Response): Promise<unknown> {
  const text = await response.text()
  if (response.ok) return text === '' ? null : (JSON.parse(text) as unknown)
  const { message = text, code = '' } = refusalIn(text)
  throw new RefusedCall(message, code)
}

function refusalIn(text: string): { message?: string; code?: string } {
  try {
    return (JSON.parse(text) as { message?: string; code?: string } | null) ?? {}
  } catch {
    return {}
  }
}
