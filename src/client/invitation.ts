import type { Retreat } from '../application/calendar.ts'
import type { Rsvp } from '../application/statuses.ts'
import { requestOf, send, type DataInterface } from './rest.ts'

/** The invitation as the page shows it to the holder of its token. */
export type Invitation =
  | { state: 'invalid'; answer?: undefined }
  | {
      state: 'open' | 'over'
      first_name: string
      until: string
      answer: Rsvp | null
      /** The reply address; blank if there is none. An older schema omits it while the invitation is open. */
      address?: string
      /** For somebody who is coming, once organisers have set the days. An older schema omits it. */
      retreat?: Retreat | null
    }

/** Milliseconds before the second and the third try. */
const retryDelays = [700, 1_800]

/**
 * Reads the state of an invitation without changing it.
 *
 * @throws {RefusedCall} if the call was refused, such as after too many wrong tokens; another error if there was no valid
 *   response.
 */
export function readInvitation(
  backend: DataInterface,
  token: string,
  signal: AbortSignal,
): Promise<Invitation> {
  return call(backend, 'place_by_token', { token }, signal)
}

/**
 * Stores an RSVP. A call without a response is retried.
 *
 * @param act The act's id, which makes the call idempotent.
 * @returns The invitation's new state. If it is not open, nothing was stored.
 * @throws {RefusedCall} if the call was refused; another error if the outcome is unknown.
 */
export function sendRsvp(
  backend: DataInterface,
  token: string,
  rsvp: Rsvp,
  act: string,
  signal: AbortSignal,
): Promise<Invitation> {
  return call(backend, 'answer_place', { token, answer: rsvp, act }, signal)
}

async function call(backend: DataInterface, name: string, args: object, signal: AbortSignal) {
  const invitation = await send(requestOf(backend, `rpc/${name}`, args), retryDelays, signal)
  if (!(invitation as Partial<Invitation> | null)?.state) throw new SyntaxError()
  return invitation as Invitation
}
