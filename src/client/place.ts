import type { Answer } from '../application/statuses.ts'
import { keyHeaders } from './public-key.ts'
import { withRetry } from './retry.ts'
import { RefusedCall } from './rpc.ts'

export { RefusedCall }

/** What the page tells whoever has the token of an acceptance's letter. */
export type Place =
  | { state: 'invalid' }
  | { state: 'open'; first_name: string; until: string; answer: Answer | null }
  /** The address is the one that answers go to; it may be blank. */
  | { state: 'over'; first_name: string; until: string; answer: Answer | null; address: string }

/** Milliseconds before the second and the third try. */
const retryPauses = [700, 1_800]

/**
 * Reads the state of a place, without answering anything.
 *
 * @param base The backend's address.
 * @throws {RefusedCall} after too many wrong tokens; another error where the backend did not say.
 */
export function readPlace(base: string, anonKey: string, token: string, signal: AbortSignal): Promise<Place> {
  return call(base, anonKey, 'place_by_token', { token }, signal)
}

/**
 * Stores whether somebody comes. A call that got no response is sent again.
 *
 * @param act The answer's id: sent again with the same id, it counts once.
 * @returns The place's state now; where it is not open, nothing was stored.
 * @throws {RefusedCall} where it was refused; another error where the backend did not say what became of it.
 */
export function answerPlace(
  base: string,
  anonKey: string,
  token: string,
  answer: Answer,
  act: string,
  signal: AbortSignal,
): Promise<Place> {
  return call(base, anonKey, 'answer_place', { token, answer, act }, signal)
}

async function call(base: string, anonKey: string, name: string, given: object, signal: AbortSignal) {
  const response = await withRetry(
    () =>
      fetch(`${base.replace(/\/$/, '')}/rest/v1/rpc/${name}`, {
        method: 'POST',
        headers: { ...keyHeaders(anonKey), 'content-type': 'application/json' },
        body: JSON.stringify(given),
        signal,
      }),
    retryPauses,
    signal,
  )
  const said = (await response.json()) as
    | (Place & { message?: undefined })
    | { state?: undefined; message?: string; code?: string }
    | null
  if (response.ok && said?.state) return said
  // A guest can do nothing about any other refusal.
  if ([409, 429].includes(response.status) && said?.message)
    throw new RefusedCall(said.message, said.code ?? '')
  throw new Error(`What answered with ${response.status} said nothing of the place.`)
}
