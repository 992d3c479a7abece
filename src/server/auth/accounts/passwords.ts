import { HttpError } from '../../http/errors.ts'
import { invalid, WeakPasswordError } from '../refusals.ts'

const cost = 10
/** Bytes; bcrypt reads no more than the second. */
const shortest = 6
const longest = 72
/**
 * Passwords that wait for their turn, of whoever signs in and of who has; one takes a twentieth of a second. A crowd of
 * the first keeps nobody of the second out.
 */
const waiting = { stranger: 0, 'signed in': 0 }
const mostWaiting = 64

/** What no password has, so that an address without an account takes as long as one with. */
const nobodys = `$2b$${cost}$jWLnzy3pjlRFZr7kIXoYJOwOeyVh0BqPdSYnVw0vjX3tGpGvXFIyy`

let last: Promise<unknown> = Promise.resolve()

/** One after the other, each on another thread: a crowd takes one of them and leaves the rest to files and names. */
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

/** A password as it is stored, of whoever is signed in. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await import('@node-rs/bcrypt')
  return inTurn('signed in', () => hash(password, cost))
}

/**
 * Whether a password is the stored one.
 *
 * @param stored None where there is no account or no password: then it takes as long, and is not.
 */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  who: keyof typeof waiting,
): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt')
  const isIt = await inTurn(who, () => verify(password, stored ?? nobodys))
  return isIt && typeof stored === 'string'
}

/** @throws {HttpError} for a password that nobody should have. */
export function checkPassword(password: string): void {
  if (Buffer.byteLength(password) < shortest) {
    throw new WeakPasswordError(`Password should be at least ${shortest} characters.`, ['length'])
  }
  if (Buffer.byteLength(password) > longest) {
    throw invalid(`Password cannot be longer than ${longest} characters`)
  }
}
