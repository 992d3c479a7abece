import { HttpError } from '../http/errors.ts'
import { invalid, WeakPasswordError } from './errors.ts'

const cost = 10
const shortest = 6
/** Bytes: bcrypt reads no more. */
const longest = 72
/** Passwords that wait for their turn; one takes a twentieth of a second. */
const mostWaiting = 64

/** What no password has, so that an address without an account takes as long as one with. */
const nobodys = `$2b$${cost}$jWLnzy3pjlRFZr7kIXoYJOwOeyVh0BqPdSYnVw0vjX3tGpGvXFIyy`

let waiting = 0
let last: Promise<unknown> = Promise.resolve()

/** One after the other, each on another thread: a crowd takes one of them and leaves the rest to files and names. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= mostWaiting) {
    throw new HttpError(
      503,
      'unexpected_failure',
      'Too many people sign in right now. Please try again in a moment.',
    )
  }
  waiting += 1
  const turn = last.then(work)
  last = turn.catch(() => {}).finally(() => (waiting -= 1))
  return turn
}

/** A password as it is stored. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await import('@node-rs/bcrypt')
  return inTurn(() => hash(password, { cost }))
}

/**
 * Whether a password is the stored one.
 *
 * @param stored None where there is no account or no password: then it takes as long, and is not.
 */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  const { verify } = await import('@node-rs/bcrypt')
  const isIt = await inTurn(() => verify(password, stored ?? nobodys))
  return isIt && typeof stored === 'string'
}

/** @throws {HttpError} for a password that nobody should have. */
export function checkPassword(password: string): void {
  if (password.length < shortest) {
    throw new WeakPasswordError(`Password should be at least ${shortest} characters.`, ['length'])
  }
  if (Buffer.byteLength(password) > longest) {
    throw invalid(`Password cannot be longer than ${longest} characters`)
  }
}
