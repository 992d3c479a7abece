import type { Answer, Target } from './target.ts'

/** One thing that the page or its applicants rely on. */
export interface Check {
  /** A sentence that is true where the check passes. */
  name: string
  /** Whether it says something only while applications are taken. */
  needsOpenDoor?: true
  /** @throws {Error} where it is not: its message says what was expected and what came. */
  run: (target: Target) => Promise<void>
}

/** Applications are refused for now, with the organisers' sentence as the message: that is no fault. */
export class DoorClosed extends Error {}

/** What a refusal has to be. */
export interface Refusal {
  status: number
  /** One of these; any, or none, unless given. */
  codes?: string[]
  /** What the message names. */
  naming?: string
}

/** A check that something is refused. */
export function refusal(
  name: string,
  send: (target: Target) => PromiseLike<Answer>,
  expected: Refusal,
): Check {
  return { name, run: async (target) => refused(await send(target), expected) }
}

/** @throws {DoorClosed} where the answer says so. */
export function refuseClosedDoor({ status, error }: Answer) {
  if (status === 403 && error?.code === 'PT403') throw new DoorClosed(error.message)
}

/** @throws {Error} unless the answer is that refusal. */
export function refused(answer: Answer, { status, codes = [], naming = '' }: Refusal) {
  const { code = '', message = '' } = answer.error ?? {}
  const isRight =
    answer.status === status && (codes.length === 0 || codes.includes(code)) && message.includes(naming)
  if (isRight) return
  const named = naming === '' ? '' : `, naming ${naming}`
  fail(`${status}${codes.length === 0 ? '' : ` ${codes.join(' or ')}`}${named}`, answer)
}

/** @throws {Error} always. What a success holds is not shown: where too much can be read, it is what people wrote. */
export function fail(expected: string, { status, error }: Answer): never {
  const { code, message = '' } = (status >= 200 && status < 300 ? null : error) ?? {}
  const words = message === '' ? '' : `: ${printable(message.slice(0, 200))}`
  const got = status === 0 ? 'no answer' : [status, code].filter(Boolean).join(' ')
  throw new Error(`expected ${expected}, got ${got}${words}`)
}

/** One line of what another server wrote, without anything that a terminal would obey. */
export function printable(text: string) {
  return text.replaceAll(/[^\u0021-\u007e]+/g, ' ')
}
