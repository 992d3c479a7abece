import { codeOf } from '../src/server/database/postgres/programs.ts'
import { OperatorError } from '../src/settings/operator-error.ts'
import { readNumber } from '../src/settings/values.ts'
import { freePort } from '../test/support/ports.ts'

/**
 * Finds the port that `PORT` names, or any free port if it is 0.
 *
 * @param standard The port if `PORT` is not set.
 * @throws {OperatorError} if the port cannot be used.
 */
export async function findPort(standard: number): Promise<number> {
  const wanted = readNumber(process.env, 'PORT', standard, 65_535)
  try {
    return await freePort(wanted)
  } catch (cause) {
    const code = codeOf(cause)
    throw new OperatorError(
      code === 'EADDRINUSE'
        ? `PORT is "${wanted}", which is in use (${code}): stop the program there, or set another PORT.`
        : `PORT is "${wanted}", which cannot be used (${code}): set another PORT.`,
      { cause },
    )
  }
}
