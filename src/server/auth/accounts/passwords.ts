import { HttpError } from '../../http/errors.ts'
import { invalid, WeakPasswordError } from '../refusals.ts'

/** How long a password takes as bcrypt counts it: each one more takes twice as long. */
export const defaultCost = 10
/** Bytes; bcrypt reads no more than the second. */
const shortest = 6
const longest = 72
/**
 * The most passwords that wait for their turn: of people who sign in, and of people who have signed in. Each takes a twentieth
 * of a second. Many of the first do not keep out the second.
 */
const waiting = { stranger: 0, 'signed in': 0 }
const mostWaiting = 64

/** A hash that no password has, so that an address without an account takes as long as one with an account. */
export const nobodys = (cost: number) =>
  `$2b$${String(cost).padStart(2, '0')}$jWLnzy3pjlRFZr7kIXoYJOwOeyVh0BqPdSYnVw0vjX3tGpGvXFIyy`

let last: Promise<unknown> = Promise.resolve()

/** Runs them one after the other, each on a thread of the pool: many passwords use one thread, and leave the others to files and
 * names. */
async function inTurn<T>(who: keyof typeof waiting, work: () => Promise<T>): Promise<T> {
  if (waiting[who] >= mostWaiting) {
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

/** Hashes a password of somebody who is signed in. */
export async function hashPassword(password: string, cost = defaultCost): Promise<string> {
  const { hash } = await import('@node-rs/bcrypt')
  return inTurn('signed in', () => hash(password, cost))
}

/**
 * Whether a password is the stored one.
 *
 * @param stored Not given where there is no account or no password. Then it takes as long, and the result is false.
 * @param cost Of the passwords that are stored.
 */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  who: keyof typeof waiting,
  cost = defaultCost,
): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt')
  const isIt = await inTurn(who, () => verify(password, stored ?? nobodys(cost)))
  return isIt && typeof stored === 'string'
}

/** @throws {HttpError} for a weak password. */
export function checkPassword(password: string): void {
  if (Buffer.byteLength(password) < shortest) {
    throw new WeakPasswordError(`Password should be at least ${shortest} characters.`, ['length'])
  }
  if (Buffer.byteLength(password) > longest) {
    throw invalid(`Password cannot be longer than ${longest} characters`)
  }
}
