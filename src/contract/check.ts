import { closedCode } from '../application/application.ts'
import type { TargetResponse, Target } from './target.ts'

/** One thing that the page or its applicants rely on. */
export interface Check {
  /** A sentence that is true if the check passes. */
  name: string
  /** Whether the check only works while the door is open. */
  needsOpenDoor?: true
  /** @throws {Error} if the check fails. The message has the expected and the actual response. */
  run: (target: Target) => Promise<void>
}

/** The door is closed, which is no failure. The error's message is the organisers' sentence. */
export class DoorClosedError extends Error {}

/** The expected response of a refusal. */
export interface Refusal {
  status: number
  /** One of these codes. If omitted, any code passes, or none. */
  codes?: string[]
  /** A word that the message has to contain. */
  messageWord?: string
}

/** PostgREST's response if the anonymous role lacks a right; any other role would get 403. */
export const denied: Refusal = { status: 401, codes: ['42501'] }
/** PostgREST's response to a body that is not rows in JSON. */
export const malformed: Refusal = { status: 400, codes: ['PGRST102'] }

/** Creates a check that something is refused. */
export function refusalCheck(
  name: string,
  send: (target: Target) => PromiseLike<TargetResponse>,
  expected: Refusal,
): Check {
  return { name, run: async (target) => expectRefusal(await send(target), expected) }
}

/** @throws {DoorClosedError} if the response says that the door is closed. */
export function throwIfDoorClosed({ status, error }: TargetResponse) {
  if (status === 403 && error?.code === closedCode) throw new DoorClosedError(error.message)
}

/** @throws {Error} unless the response is the expected refusal. */
export function expectRefusal(response: TargetResponse, { status, codes = [], messageWord = '' }: Refusal) {
  const { code = '', message = '' } = response.error ?? {}
  const isExpected =
    response.status === status &&
    (codes.length === 0 || codes.includes(code)) &&
    message.includes(messageWord)
  if (isExpected) return
  const wordNote = messageWord === '' ? '' : `, naming ${messageWord}`
  fail(`${status}${codes.length === 0 ? '' : ` ${codes.join(' or ')}`}${wordNote}`, response)
}

/** @throws {Error} always. The message hides successful responses: a leak would contain what people wrote. */
export function fail(expected: string, { status, error }: TargetResponse): never {
  const { code, message = '' } = (status >= 200 && status < 300 ? null : error) ?? {}
  const words = message === '' ? '' : `: ${printable(message.slice(0, 200))}`
  const got = status === 0 ? 'no answer' : [status, code].filter(Boolean).join(' ')
  throw new Error(`expected ${expected}, got ${got}${words}`)
}

/** Formats another server's text on one line, without characters that a terminal would obey. */
export function printable(text: string) {
  return text.replaceAll(/[^\u0021-\u007e]+/g, ' ')
}
