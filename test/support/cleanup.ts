import { within } from './within.ts'

type Cleanup = () => Promise<unknown> | void

/** Milliseconds, far more than any cleanup takes on a busy machine. */
const timeout = 120_000

/** The cleanups of each scope: of the test file and, while a test runs, of that test. The last scope is the current one. */
const scopes: Cleanup[][] = [[]]

/**
 * Runs the cleanup at the end of the test that calls this, or of its file if a `beforeAll` does, even after a failure or a
 * timeout. Every helper that starts something calls this, so no test has to end it.
 *
 * @returns A function that runs the cleanup earlier. Further calls do nothing.
 */
export function atTestEnd(cleanup: Cleanup): () => Promise<void> {
  let ended: Promise<void> | undefined
  const { stack = '' } = new Error('registered')
  const end = () =>
    (ended ??= within(timeout, `A cleanup (${stack})`, (async () => void (await cleanup()))()))
  scopes.at(-1)?.push(end)
  return end
}

/**
 * Remembers the current scope, which is a test or its file.
 *
 * @returns A function that starts something in that scope later. Only the part of its callback before the first `await` is in the
 * scope.
 */
export function currentScope(): <Started>(start: () => Started) => Started {
  const scope = scopes.at(-1) ?? []
  return (start) => {
    scopes.push(scope)
    try {
      return start()
    } finally {
      scopes.pop()
    }
  }
}

/** Begins the scope of a file, or of a test in it. */
export function beginScope(): void {
  scopes.push([])
}

/**
 * Runs the cleanups of the current scope, the newest first.
 *
 * @throws {AggregateError} Some cleanups failed. All others were run.
 */
export async function endScope(): Promise<void> {
  const failures: unknown[] = []
  for (const end of (scopes.pop() ?? []).toReversed()) {
    try {
      await end()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'What a test started could not be ended.')
}
