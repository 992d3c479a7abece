type Cleanup = () => Promise<unknown> | void

/** The cleanups of the test file and, while a test runs, of that test. The last scope is the current one. */
const scopes: Cleanup[][] = [[]]

/**
 * Ends something with the test that started it, or with its file if a `beforeAll` did, even after a failure or a timeout. Every
 * helper that starts something calls this, so no test has to end it.
 *
 * @returns A function that ends it earlier. Further calls do nothing.
 */
export function atTestEnd(cleanup: Cleanup): () => Promise<void> {
  let ended: Promise<void> | undefined
  const end = () => (ended ??= (async () => void (await cleanup()))())
  scopes.at(-1)?.push(end)
  return end
}

/**
 * Remembers the current scope, which is a test or its file.
 *
 * @returns A function that starts something later in that scope. The scope ends at the first `await` of its callback.
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
 * Ends everything that was started in the current scope, the last first.
 *
 * @throws {AggregateError} Something could not be ended. Everything else was ended.
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
