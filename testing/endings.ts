type Ending = () => Promise<unknown> | void

/** What is to be ended with the test file and, while a test runs, with that test; the last is the current one. */
const scopes: Ending[][] = [[]]

/**
 * Ends something with the test that started it, or with its file where a `beforeAll` did: after a failure and after a
 * time limit too. What starts something calls this, so that no test has to end it.
 *
 * @returns What ends it earlier. It is ended once, however often that is called.
 */
export function atEnd(ending: Ending): () => Promise<void> {
  let ended: Promise<void> | undefined
  const end = () => (ended ??= (async () => void (await ending()))())
  scopes.at(-1)?.push(end)
  return end
}

/**
 * Remembers what runs now, a test or its file.
 *
 * @returns What starts something, later, that ends with that. It is what the function starts before its first wait.
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

/** Begins a file, or a test in it. */
export function beginScope(): void {
  scopes.push([])
}

/**
 * Ends what was started since the scope began, the last first.
 *
 * @throws {AggregateError} where something could not be ended; the rest is ended nevertheless.
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
