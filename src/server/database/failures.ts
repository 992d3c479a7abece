import { OperatorError } from '../../settings/operator-error.ts'
import { oneLine } from '../finding.ts'

/** Whether the database did not respond in time: by our deadline, or by its own timeout of a statement or a lock. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(DEADLINE|57014|55P03)$/.test(String(error.code))
}

/** A sentence for the operator about a file that could not be used; undefined if the error is about something else. */
export function fileFailure(error: unknown): OperatorError | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return undefined
  return new OperatorError(
    `"${String(error.path)}" cannot be used (${String(error.code)}): see that it is there, and that this user may read it.`,
    { cause: error },
  )
}

/**
 * Turns an error into a sentence that says what to do if the database of `DATABASE_URL` cannot be used.
 *
 * @param description The database, in words for people.
 * @returns The error itself if the address is not its cause.
 */
export function unreachableError(error: unknown, description: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const fileError = fileFailure(error)
  if (fileError) return fileError
  const code = String(error.code)
  if (code === 'ROLE_LOST' || (code === '08P01' && error.message.includes('startup parameter'))) {
    return new OperatorError(
      `The ${description}, which DATABASE_URL names, is a pooler (${error.message}): set DATABASE_POOLER=transaction.`,
      { cause: error },
    )
  }
  // SQLSTATEs: class 08, the connection failed; class 28, refused; 3D000, no such database; 42501, no right; 42704 and 22023, an
  // unknown parameter in the address or a wrong value; class 53, too many connections or a full disk; 57P03, PostgreSQL is
  // starting. The other codes are the network's, OpenSSL's and ours.
  if (
    !/^(08|28|3D000|42501|42704|22023|53|57P03|DEADLINE|E[A-Z_]+$|ERR_|CONNECT|READ_ONLY|.*CERT|.*SIGNATURE)/.test(
      code,
    )
  )
    return error
  return new OperatorError(
    `The ${description}, which DATABASE_URL names, cannot be used (${code === 'CONNECT_TIMEOUT' ? 'it did not answer in time' : oneLine(error.message)}): check its address, parameters, user and password, and that it runs.`,
    { cause: error },
  )
}
