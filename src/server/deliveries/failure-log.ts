/** Milliseconds in which failures like one that was logged are only counted. */
const window = 60_000

/** A failed try that will be repeated. */
interface Failure {
  attempt: number
  status: number | null
}

/** Logs failures. */
export interface FailureLog {
  /** Logs the first failure of its kind, and counts further ones for a minute. Then their number is logged. */
  add: (failure: Failure & Record<string, unknown>) => void
  /** Logs the numbers at once. */
  end: () => void
}

/** Creates a log of failures, in which those with the same status on the same try are of one kind. */
export function createFailureLog(log: { warn(details: object, message: string): void }): FailureLog {
  const kinds = new Map<string, { report: () => void; count: number }>()
  return {
    add(failure) {
      const { attempt, status } = failure
      const key = `${attempt} ${status}`
      const known = kinds.get(key)
      if (known !== undefined) {
        known.count += 1
        return
      }
      log.warn(failure, 'webhook failed; it will be tried again')
      const report = () => {
        clearTimeout(timer)
        kinds.delete(key)
        const { count } = kind
        if (count > 0) log.warn({ attempt, status, count }, 'more webhooks failed; they will be tried again')
      }
      const timer = setTimeout(report, window).unref()
      const kind = { report, count: 0 }
      kinds.set(key, kind)
    },
    end() {
      for (const { report } of kinds.values()) report()
    },
  }
}
