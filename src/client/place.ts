import type { Answer } from '../application/statuses.ts'
import { isJwt } from './data-interface.ts'
import { withRetry } from './retry.ts'
import { RefusedCall } from './rpc.ts'

export { RefusedCall }

/** What is said of an acceptance to whoever has the token of its letter. */
export type Place =
  | { state: 'invalid' }
  | { state: 'open'; first_name: string; until: string; answer: Answer | null }
  /** The address is the one that answers go to; it may be blank. */
  | { state: 'over'; first_name: string; until: string; answer: Answer | null; address: string }

/** Milliseconds before the second and the third try. */
const retryPauses = [700, 1_800]

/**
 * Reads how a place stands, which answers nothing.
 *
 * @param base The backend's address.
 * @throws {RefusedCall} after too many wrong tokens; another error where the backend did not say.
 */
export function readPlace(base: string, anonKey: string, token: string, signal: AbortSignal): Promise<Place> {
  return call(base, anonKey, 'place_by_token', { token }, signal)
}

/**
 * Answers whether somebody comes. What got no answer is sent again.
 *
 * @param act By which it is the same answer then.
 * @returns How the place stands now; where that is not open, nothing was kept.
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
        headers: {
          apikey: anonKey,
          'content-type': 'application/json',
          ...(isJwt(anonKey) && { authorization: `Bearer ${anonKey}` }),
        },
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
  // Everything else that can be refused is not the guest's business.
  if ([409, 429].includes(response.status) && said?.message)
    throw new RefusedCall(said.message, said.code ?? '')
  throw new Error(`What answered with ${response.status} said nothing of the place.`)
}
