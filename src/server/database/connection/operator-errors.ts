import { OperatorError } from '../../../settings/operator-error.ts'
import { oneLine } from '../../finding.ts'
import { ConnectionError, DeadlineError, isDatabaseError } from './connection.ts'

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
  if (code === '25006') {
    return new OperatorError(
      `The ${description}, which DATABASE_URL names, takes no writes (${oneLine(error.message)}): name the primary, or let it write again.`,
      { cause: error },
    )
  }
  // SQLSTATEs: class 08, the connection failed; class 28, refused; 3D000, no such database; 42501, no right; 42704 and 22023, an
  // unknown parameter in the address or a wrong value; class 53, too many connections or a full disk; class 57, PostgreSQL is
  // starting, stopping or cancels; class 58, a file of its own failed. The other codes are the network's, OpenSSL's and ours. A
  // fatal error ends the connection, whatever its code, such as 42601 of an option that nobody knows.
  const isFatal = isDatabaseError(error) && error.severity === 'FATAL'
  if (
    !isFatal &&
    !/^(08|28|3D000|42501|42704|22023|53|57|58|DEADLINE|E[A-Z_]+$|ERR_|CONNECT|.*CERT|.*SIGNATURE)/.test(code)
  )
    return error
  return new OperatorError(
    `The ${description}, which DATABASE_URL names, cannot be used (${code === 'CONNECT_TIMEOUT' ? 'it did not answer in time' : oneLine(error.message)}): check its address, parameters, user and password, and that it runs.`,
    { cause: error },
  )
}

/**
 * Turns the loss of an open database into a sentence that says what to do. A full disk, and a database that takes no writes,
 * count as losses.
 *
 * @param description The database, in words for people.
 * @returns The error itself if it is about something else.
 */
export function lossError(
  error: unknown,
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | undefined },
  description: string,
): unknown {
  const isLoss =
    error instanceof ConnectionError ||
    error instanceof DeadlineError ||
    (isDatabaseError(error) && /^(08|25006|53|57|58)/.test(error.code))
  if (!isLoss) return error
  if (databaseUrl !== undefined) return unreachableError(error, description)
  return new OperatorError(
    `The database in DATA_DIR ("${dataDir}") was lost or cannot write (${oneLine(error.message)}): see its postgres.log and the disk, and begin again.`,
    { cause: error },
  )
}
