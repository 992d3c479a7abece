import { HttpError } from '../../http/errors.ts'
import { invalid, WeakPasswordError } from '../refusals.ts'

/** The bcrypt cost of a password: each increment doubles the time. */
export const defaultCost = 10
/** The least number of characters of a new password. Older passwords may have six. */
const minLength = 10
/** bcrypt ignores further bytes. */
const maxBytes = 72
/**
 * The numbers of queued passwords, and their limit. Strangers and signed-in people are counted separately, so that many
 * strangers do not lock out signed-in people. bcrypt takes a twentieth of a second for each password.
 */
const waiting = { stranger: 0, 'signed in': 0 }
const maxWaiting = 64

/** A hash that matches no password. Comparing with it makes a try for an unknown address take as long as for a known one. */
export const unmatchableHash = (cost: number) =>
  `$2b$${String(cost).padStart(2, '0')}$jWLnzy3pjlRFZr7kIXoYJOwOeyVh0BqPdSYnVw0vjX3tGpGvXFIyy`

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs bcrypt for one password at a time. So bcrypt occupies only one thread of Node.js's pool, and leaves the others to files
 * and DNS.
 */
async function runInQueue<T>(caller: keyof typeof waiting, work: () => Promise<T>): Promise<T> {
  if (waiting[caller] >= maxWaiting) {
    throw new HttpError(
      503,
      'unexpected_failure',
      'Too many people sign in right now. Please try again in a moment.',
    )
  }
  waiting[caller] += 1
  const result = last.then(work)
  last = result.catch(() => {}).finally(() => (waiting[caller] -= 1))
  return result
}

/** Hashes a signed-in person's password. */
export async function hashPassword(password: string, cost = defaultCost): Promise<string> {
  const { hash } = await import('@node-rs/bcrypt')
  return runInQueue('signed in', () => hash(password, cost))
}

/**
 * Whether a password is the stored one.
 *
 * @param stored Null or undefined if there is no account or no password. The call then takes equally long, and returns
 *   false.
 * @param cost The bcrypt cost of stored passwords.
 */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  caller: keyof typeof waiting,
  cost = defaultCost,
): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt')
  const matches = await runInQueue(caller, () => verify(password, stored ?? unmatchableHash(cost)))
  return matches && typeof stored === 'string'
}

/**
 * What makes a password too weak for a new one, in GoTrue's words; undefined if nothing does. An older password that is too weak still
 * signs in.
 */
export function weaknessOf(password: string): { message: string; reasons: string[] } | undefined {
  if (Array.from(password).length >= minLength) return undefined
  return { message: `Password should be at least ${minLength} characters.`, reasons: ['length'] }
}

/**
 * Checks a new password.
 *
 * @throws {HttpError} if it is too short or too long.
 */
export function checkPassword(password: string): void {
  const weakness = weaknessOf(password)
  if (weakness) throw new WeakPasswordError(weakness.message, weakness.reasons)
  if (Buffer.byteLength(password) > maxBytes) {
    throw invalid(`Password cannot be longer than ${maxBytes} characters`)
  }
}
