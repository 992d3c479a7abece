import type { DataInterface } from './rest.ts'
import { callByToken } from './token-call.ts'

/** An application as the page of its receipt's link shows it. */
export type Withdrawal =
  /** The link is unknown, or its application was erased or belongs to a former retreat. */
  | { state: 'invalid' }
  | {
      /** `decided`: it can no longer be withdrawn. */
      state: 'open' | 'withdrawn' | 'decided'
      /** Null if it is blank, or may be more than a name. */
      first_name: string | null
      /** The day of the application, as `2026-12-31`. */
      applied_on: string
    }

/**
 * Reads an application without changing it.
 *
 * @throws {RefusedCall} if the call was refused; another error if there was no valid response.
 */
export function readWithdrawal(
  backend: DataInterface,
  token: string,
  signal: AbortSignal,
): Promise<Withdrawal> {
  return callByToken(backend, 'withdrawal_by_token', { token }, signal)
}

/**
 * Withdraws an application, or takes that back.
 *
 * @param act The act's id, which makes the call idempotent.
 * @returns The application's new state.
 * @throws {RefusedCall} if the call was refused; another error if the outcome is unknown.
 */
export function sendWithdrawal(
  backend: DataInterface,
  token: string,
  isWithdrawn: boolean,
  act: string,
  signal: AbortSignal,
): Promise<Withdrawal> {
  const args = { token, is_withdrawn: isWithdrawn, act }
  return callByToken(backend, 'withdraw_application', args, signal)
}
