import pino, { type LoggerOptions } from 'pino'
import postgres from 'postgres'

/**
 * What the log holds of an error. PostgreSQL's own words can quote what an applicant wrote, so of its errors
 * only the code is logged.
 */
function serializeError(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: '' }
  const code = 'code' in error ? error.code : undefined
  return error instanceof postgres.PostgresError
    ? { type: error.name, code, message: error.severity, stack: '' }
    : { type: error.name, code, message: error.message, stack: error.stack ?? '' }
}

/**
 * Where the log goes: standard output, a few lines at a time and a tenth of a second late at the most. A write
 * for each line would cost a tenth of the rate of inserts.
 */
export const logDestination = pino.destination({ sync: false, minLength: 4096, periodicFlush: 100 })

/** The options of the structured log, one JSON object a line. */
export const logOptions: LoggerOptions = {
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  serializers: { err: serializeError },
  formatters: { level: (label: string) => ({ level: label }) },
}
