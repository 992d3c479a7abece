import { ConnectionError, DeadlineError, isDatabaseError } from '../database/connection.ts'

/** What an error has besides its status, code and message. */
interface ErrorDetails {
  details?: string | null
  hint?: string | null
  /** Seconds after which the same request may be allowed. */
  retryAfter?: number
  /** The error that caused it, for the log alone. */
  cause?: unknown
}

/** The most characters of a message, which can quote everything that a request sent. */
const mostSaid = 1_000

/** A refusal, which each interface of this server writes in its own shape. */
export class HttpError extends Error {
  readonly status: number
  /** A SQLSTATE, or the code of the interface that refuses. */
  readonly code: string
  readonly details: string | null
  readonly hint: string | null
  readonly retryAfter: number | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    { details = null, hint = null, retryAfter, cause }: ErrorDetails = {},
  ) {
    super(message.length > mostSaid ? `${message.slice(0, mostSaid)}…` : message, { cause })
    this.status = status
    this.code = code
    this.details = details
    this.hint = hint
    this.retryAfter = retryAfter
  }
}

/**
 * Turns whatever a request failed with into a refusal: PostgreSQL's own words and code where it refused the rows,
 * the HTTP server's status where it refused the request, and otherwise "not now".
 *
 * @param signedIn Whether the caller has signed in: then a missing right is 403, and otherwise 401.
 * @see https://docs.postgrest.org/en/v13/references/errors.html
 */
export function httpError(error: unknown, signedIn = false): HttpError {
  if (error instanceof HttpError) return error
  if (isDatabaseError(error)) {
    const { code, message, detail = null, hint = null } = error
    const status = statusOf(code, signedIn)
    if (status < 500) return new HttpError(status, code, message, { details: detail, hint })
    return new HttpError(status, code, signedIn ? unavailableToOrganisers : unavailable, { cause: error })
  }
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    const { statusCode: status, message } = error
    return new HttpError(status, `HTTP${status}`, status === 413 ? tooLarge : message)
  }
  if (error instanceof ConnectionError || error instanceof DeadlineError) {
    return new HttpError(503, 'PGRST000', signedIn ? unavailableToOrganisers : unavailable, { cause: error })
  }
  return new HttpError(500, 'PGRSTX00', 'Something went wrong on our side. Please try again.', {
    cause: error,
  })
}

const tooLarge = 'Your application is too large. Please shorten your answers and send it again.'
const unavailable = 'Applications cannot be stored right now. Please try again in a moment.'
const unavailableToOrganisers = 'The database does not answer right now. Please try again in a moment.'

/** PostgREST's status for a SQLSTATE, where what a caller may do can meet it. */
function statusOf(code: string, signedIn: boolean) {
  if (code === '23505') return 409
  if (code === '42501') return signedIn ? 403 : 401
  if (code === '42P01') return 404
  // Codes that our own functions raise.
  const [, said] = /^PT(\d{3})$/.exec(code) ?? []
  if (said !== undefined) return Number(said)
  // 08 connection, 25006 a standby, 28 and 3D our own login, 53 resources (a full disk), 57 shutdown or time-out,
  // 58 system, XX internal: not now.
  if (/^(08|25006|28|3D|53|57|58|XX|40|55)/.test(code)) return 503
  // PostgREST answers 54 (too complex) with 500. Here it is the sender's fault, who sent too much.
  return 400
}
