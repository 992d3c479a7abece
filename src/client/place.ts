import type { Answer } from '../application/statuses.ts'
import { requestOf, send, type DataInterface } from './rest.ts'

/** What the page tells whoever has the token of an acceptance's letter. */
export type Place =
  | { state: 'invalid'; answer?: undefined }
  | {
      state: 'open' | 'over'
      first_name: string
      until: string
      answer: Answer | null
      /** The reply address; blank where there is none, left out by an older schema where the place is open. */
      address?: string
    }

/** Milliseconds before the second and the third try. */
const retryPauses = [700, 1_800]

/**
 * Reads the state of a place, without answering anything.
 *
 * @throws {RefusedCall} where it was refused, such as after too many wrong tokens; another error where the backend did not say.
 */
export function readPlace(backend: DataInterface, token: string, signal: AbortSignal): Promise<Place> {
  return call(backend, 'place_by_token', { token }, signal)
}

/**
 * Stores whether somebody comes. A call that got no response is sent again.
 *
 * @param act The answer's id: sent again with the same id, it counts once.
 * @returns The place's state now; where it is not open, nothing was stored.
 * @throws {RefusedCall} where it was refused; another error where the backend did not say what became of it.
 */
export function answerPlace(
  backend: DataInterface,
  token: string,
  answer: Answer,
  act: string,
  signal: AbortSignal,
): Promise<Place> {
  return call(backend, 'answer_place', { token, answer, act }, signal)
}

async function call(backend: DataInterface, name: string, given: object, signal: AbortSignal) {
  const place = await send(requestOf(backend, `rpc/${name}`, given), retryPauses, signal)
  if (!(place as Partial<Place> | null)?.state) throw new SyntaxError()
  return place as Place
}
