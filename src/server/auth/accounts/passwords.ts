import { HttpError } from '../../http/errors.ts'
import { invalid, WeakPasswordError } from '../refusals.ts'

/** The bcrypt cost of a password: each step doubles its time. */
export const defaultCost = 10
/** Bytes; bcrypt ignores any beyond the second. */
const minBytes = 6
const maxBytes = 72
/**
 * The most passwords that wait in the queue, for strangers and for signed-in people separately, so that many of the first do not
 * lock out the second. Each takes a twentieth of a second.
 */
const waiting = { stranger: 0, 'signed in': 0 }
const maxWaiting = 64

/** A hash that matches no password, so that an address without an account takes as long as one with an account. */
export const unmatchableHash = (cost: number) =>
  `$2b$${String(cost).padStart(2, '0')}$jWLnzy3pjlRFZr7kIXoYJOwOeyVh0BqPdSYnVw0vjX3tGpGvXFIyy`

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs bcrypt one password at a time. Many passwords then occupy one thread of the pool, and leave the others to files and DNS.
 */
async function inQueue<T>(who: keyof typeof waiting, work: () => Promise<T>): Promise<T> {
  if (waiting[who] >= maxWaiting) {
    throw new HttpError(
      503,
      'unexpected_failure',
      'Too many people sign in right now. Please try again in a moment.',
    )
  }
  waiting[who] += 1
  const turn = last.then(work)
  last = turn.catch(() => {}).finally(() => (waiting[who] -= 1))
  return turn
}

/** Hashes a signed-in person's password. */
export async function hashPassword(password: string, cost = defaultCost): Promise<string> {
  const { hash } = await import('@node-rs/bcrypt')
  return inQueue('signed in', () => hash(password, cost))
}

/**
 * Whether a password is the stored one.
 *
 * @param stored Null or undefined without an account or a password. The call then takes as long, and returns false.
 * @param cost The bcrypt cost of stored passwords.
 */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  who: keyof typeof waiting,
  cost = defaultCost,
): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt')
  const matches = await inQueue(who, () => verify(password, stored ?? unmatchableHash(cost)))
  return matches && typeof stored === 'string'
}

/**
 * Checks a new password.
 *
 * @throws {HttpError} where it is too short or too long.
 */
export function checkPassword(password: string): void {
  if (Buffer.byteLength(password) < minBytes) {
    throw new WeakPasswordError(`Password should be at least ${minBytes} characters.`, ['length'])
  }
  if (Buffer.byteLength(password) > maxBytes) {
    throw invalid(`Password cannot be longer than ${maxBytes} characters`)
  }
}
