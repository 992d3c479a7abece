import type { Retreat } from '../application/calendar.ts'
import type { Answers, AnsweredQuestion } from '../application/questions.ts'
import type { Rsvp } from '../application/statuses.ts'
import type { DataInterface } from './rest.ts'
import { callByToken } from './token-call.ts'

/** The questions to a guest. Answers to private questions are always null, because the link may have been forwarded. */
export interface GuestQuestions {
  /** The last day for answers; null if there is none. */
  until: string | null
  is_open: boolean
  /** Days from the end of the retreat to the erasure of private answers; null if no question is private. */
  private_days: number | null
  list: AnsweredQuestion[]
}

/** The invitation as the page shows it to the holder of its token. */
export type Invitation =
  | { state: 'invalid'; answer?: undefined; retreat?: undefined; questions?: undefined }
  | {
      /** `over`: the deadline has passed. */
      state: 'open' | 'over'
      first_name: string
      /** The deadline for the RSVP, as `2026-12-31`. */
      until: string
      answer: Rsvp | null
      /** The reply address; blank if there is none. An older schema omits it while the invitation is open. */
      address?: string
      /** For somebody who is coming or has not answered, once organisers have set the days. An older schema omits it. */
      retreat?: Retreat | null
      /** For somebody who is coming, once organisers have written questions. An older schema omits it. */
      questions?: GuestQuestions | null
    }

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
  return callByToken(backend, 'place_by_token', { token }, signal)
}

/**
 * Stores an RSVP. A call that does not reach the database is retried.
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
  return callByToken(backend, 'answer_place', { token, answer: rsvp, act }, signal)
}

/**
 * Stores answers to questions. A call that does not reach the database is retried.
 *
 * @param answers The new and the changed answers. All others stay.
 * @param act The act's id, which makes the call idempotent.
 * @returns The invitation's new state. If the guest is not coming, or the last day has passed, nothing was stored.
 * @throws {RefusedCall} if the call was refused, such as when the questions have changed; another error if the outcome is
 *   unknown.
 */
export function sendAnswers(
  backend: DataInterface,
  token: string,
  answers: Answers,
  act: string,
  signal: AbortSignal,
): Promise<Invitation> {
  return callByToken(backend, 'answer_questions', { token, answers, act }, signal)
}
