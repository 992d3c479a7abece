import { OperatorError } from '../settings/operator-error.ts'
import { within } from './within.ts'

/** The result of one check, for operators and organisers: a sentence without secrets. */
export interface Finding {
  about: string
  /** `wrong`: somebody has to act, and the sentence says how. `not set`: a feature is off, which is no problem. */
  verdict: 'ok' | 'not set' | 'wrong' | 'not known'
  sentence: string
}

type Verdict = Omit<Finding, 'about'>

/** These four functions create a verdict from its sentence. */
export const ok = (sentence: string): Verdict => ({ verdict: 'ok', sentence })
export const notSet = (sentence: string): Verdict => ({ verdict: 'not set', sentence })
export const wrong = (sentence: string): Verdict => ({ verdict: 'wrong', sentence })
export const notKnown = (sentence: string): Verdict => ({ verdict: 'not known', sentence })

/** Joins the problems into the verdict `wrong`. Returns undefined if there are no problems. */
export function wrongIf(problems: readonly (string | false | undefined)[]): Verdict | undefined {
  const sentences = problems.filter((problem) => typeof problem === 'string')
  return sentences.length === 0 ? undefined : wrong(sentences.join(' '))
}

/**
 * Runs a check with a timeout.
 *
 * @param about The subject of the check, such as `database`.
 * @param timeout Timeout in milliseconds.
 * @param check The check. If it throws, the error becomes the finding.
 */
export async function runCheck(
  about: string,
  timeout: number,
  check: () => Promise<Verdict>,
): Promise<Finding> {
  const timeoutError = () => new OperatorError(`There was no response within ${timeout / 1000} s.`)
  try {
    return { about, ...(await within(timeout, check(), timeoutError)) }
  } catch (error) {
    return { about, ...verdictFromError(error) }
  }
}

/** SQLSTATEs of a missing table, column, function or schema. */
const missingObject = /^(42P01|42703|42883|3F000)$/

function verdictFromError(error: unknown): Verdict {
  if (!(error instanceof Error)) return wrong(String(error))
  if ('code' in error && missingObject.test(String(error.code))) {
    return notKnown('The schema is older than this program: see the line about the schema.')
  }
  if (error instanceof OperatorError) return wrong(error.message)
  return wrong(`The check failed: ${oneLine(error.message)}.`)
}

/**
 * Puts another program's message on one line of at most 300 characters, without a full stop. Reduces an OpenSSL error to its
 * reason.
 */
export function oneLine(text: string): string {
  return text
    .replace(/^[\dA-F]+:error:[\dA-F]+:[^:]*:[^:]*:([^:]+):.*/s, 'TLS: $1')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '')
    .slice(0, 300)
}
