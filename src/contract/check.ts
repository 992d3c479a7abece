import type { Answer, Target } from './target.ts'

/** One thing that the page or its applicants rely on. */
export interface Check {
  /** A sentence that is true where the check passes. */
  name: string
  /** Whether the check only works while applications are open. */
  needsOpenDoor?: true
  /** @throws {Error} where the check fails. The message has the expected and the actual response. */
  run: (target: Target) => Promise<void>
}

/** The door is closed, which is no failure. Its message is the organisers' sentence. */
export class DoorClosed extends Error {}

/** The expected response of a refusal. */
export interface Refusal {
  status: number
  /** One of these codes. If omitted, any code passes, or none. */
  codes?: string[]
  /** A word that the message has to contain. */
  naming?: string
}

/** Creates a check that something is refused. */
export function refusal(
  name: string,
  send: (target: Target) => PromiseLike<Answer>,
  expected: Refusal,
): Check {
  return { name, run: async (target) => refused(await send(target), expected) }
}

/** @throws {DoorClosed} where the response says so. */
export function refuseClosedDoor({ status, error }: Answer) {
  if (status === 403 && error?.code === 'PT403') throw new DoorClosed(error.message)
}

/** @throws {Error} unless the response is that refusal. */
export function refused(answer: Answer, { status, codes = [], naming = '' }: Refusal) {
  const { code = '', message = '' } = answer.error ?? {}
  const isRight =
    answer.status === status && (codes.length === 0 || codes.includes(code)) && message.includes(naming)
  if (isRight) return
  const named = naming === '' ? '' : `, naming ${naming}`
  fail(`${status}${codes.length === 0 ? '' : ` ${codes.join(' or ')}`}${named}`, answer)
}

/** @throws {Error} always. The message hides successful responses: a leak would contain what people wrote. */
export function fail(expected: string, { status, error }: Answer): never {
  const { code, message = '' } = (status >= 200 && status < 300 ? null : error) ?? {}
  const words = message === '' ? '' : `: ${printable(message.slice(0, 200))}`
  const got = status === 0 ? 'no answer' : [status, code].filter(Boolean).join(' ')
  throw new Error(`expected ${expected}, got ${got}${words}`)
}

/** Formats another server's text on one line, without characters that a terminal would obey. */
export function printable(text: string) {
  return text.replaceAll(/[^\u0021-\u007e]+/g, ' ')
}
