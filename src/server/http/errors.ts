import { uniqueIndex } from '../../application/application.ts'
import { ConnectionError, DeadlineError, isDatabaseError } from '../database/connection/connection.ts'

/** The optional parts of an error. */
interface ErrorDetails {
  details?: string | null
  hint?: string | null
  /** Seconds after which the same request may succeed. */
  retryAfter?: number
  /** The cause, only for the log. */
  cause?: unknown
}

/** The longest message, in characters: a message can quote everything that a request sent. */
const maxMessageLength = 1_000

/** A refusal of a request. Each interface of this server has its own format for it. */
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
    super(message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message, { cause })
    this.status = status
    this.code = code
    this.details = details
    this.hint = hint
    this.retryAfter = retryAfter
  }
}

/**
 * Turns any error of a request into a refusal. If PostgreSQL refused what was sent, the refusal has PostgreSQL's message and
 * code. If Fastify refused the request, the refusal has Fastify's status. Any other error becomes a 503 or 500 with a general
 * message.
 *
 * @param signedIn Whether the caller is signed in: a missing right is then 403, otherwise 401.
 * @see https://docs.postgrest.org/en/v13/references/errors.html
 */
export function httpError(error: unknown, signedIn = false): HttpError {
  if (error instanceof HttpError) return error
  if (isDatabaseError(error)) {
    const { code, detail = null, hint = null, constraint } = error
    // Clients know a repeat by PostgreSQL's English message, which is another one in other languages.
    const message = constraint === uniqueIndex ? duplicateMessage : error.message
    const status = statusOf(code, signedIn)
    // Our own functions raise `PT` with a sentence for the caller.
    if (status < 500 || code.startsWith('PT'))
      return new HttpError(status, code, message, { details: detail, hint })
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

const duplicateMessage = `duplicate key value violates unique constraint "${uniqueIndex}"`
const tooLarge = 'Your application is too large. Please shorten your answers and send it again.'
const unavailable = 'Applications cannot be stored right now. Please try again in a moment.'
const unavailableToOrganisers = 'The database does not respond right now. Please try again in a moment.'

/** PostgREST's status for each SQLSTATE that a caller can cause. */
function statusOf(code: string, signedIn: boolean) {
  if (code === '23505') return 409
  if (code === '42501') return signedIn ? 403 : 401
  if (code === '42P01') return 404
  // `PT` and a status: raised by our own functions.
  const [, status] = /^PT(\d{3})$/.exec(code) ?? []
  if (status !== undefined) return Number(status)
  // Temporary failures: 08 connection, 25006 a standby, 28 and 3D our own login, 53 resources such as a full disk. Also 57
  // shutdown or timeout, 58 system, XX internal, 40 transaction rollback, and 55 object in use.
  if (/^(08|25006|28|3D|53|57|58|XX|40|55)/.test(code)) return 503
  // PostgREST responds with 500 to class 54 (too complex). Here such an error means that the caller sent too much.
  return 400
}
