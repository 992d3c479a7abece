import postgres from 'postgres'

/** A refusal as PostgREST words it. */
export class InterfaceError extends Error {
  readonly status: number
  readonly code: string
  readonly details: string | null
  readonly hint: string | null
  /** Seconds after which the same may be allowed. */
  retryAfter: number | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    details: string | null = null,
    hint: string | null = null,
    cause?: unknown,
  ) {
    super(message, { cause })
    this.status = status
    this.code = code
    this.details = details
    this.hint = hint
  }
}

/**
 * Turns whatever an insert failed with into an answer: PostgreSQL's own words and code where it refused the
 * rows, the HTTP server's status where it refused the request, and otherwise "not now".
 *
 * @see https://docs.postgrest.org/en/v13/references/errors.html
 */
export function databaseError(error: unknown): InterfaceError {
  if (error instanceof InterfaceError) return error
  if (error instanceof postgres.PostgresError) {
    const { code, message, detail, hint } = error
    const status = statusOf(code)
    if (status < 500) return new InterfaceError(status, code, message, detail ?? null, hint ?? null)
    return new InterfaceError(status, code, unavailable, null, null, error)
  }
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    const { statusCode: status, message } = error
    return new InterfaceError(status, `HTTP${status}`, status === 413 ? tooLarge : message)
  }
  if (error instanceof Error && 'code' in error && connectionErrors.test(String(error.code))) {
    return new InterfaceError(503, 'PGRST000', unavailable, null, null, error)
  }
  return new InterfaceError(
    500,
    'PGRSTX00',
    'Something went wrong on our side. Please try again.',
    null,
    null,
    error,
  )
}

/** One address sent too many applications. */
export function tooMany(seconds: number): InterfaceError {
  const error = new InterfaceError(
    429,
    'HTTP429',
    `Too many applications came from your connection. Please wait ${seconds} seconds and send it again.`,
  )
  error.retryAfter = seconds
  return error
}

const tooLarge = 'Your application is too large. Please shorten your answers and send it again.'
const unavailable = 'Applications cannot be stored right now. Please try again in a moment.'

/** How postgres.js and Node.js name a database that cannot be reached, or was lost half-way. */
const connectionErrors =
  /^(CONNECT|ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EACCES)/

/** PostgREST's status for a SQLSTATE, where an insert by a visitor can meet it. */
function statusOf(code: string) {
  if (code === '23505') return 409
  if (code === '42501') return 401
  if (code === '42P01') return 404
  // 08 connection, 53 resources (a full disk), 57 shutdown or time-out, 58 system, XX internal: not now.
  if (/^(08|53|57|58|XX|40|55)/.test(code)) return 503
  // PostgREST answers 54 (too complex) with 500; what came was too much, so here it is the sender's.
  return 400
}
