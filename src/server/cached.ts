/**
 * Caches a value that is expensive to load. It is loaded on demand, one load at a time.
 *
 * @param load Loads the value.
 * @param options.cachesFailures Whether a failed load is cached too; otherwise the next call loads again.
 * @param options.now A monotonic clock in milliseconds.
 * @returns A function that returns the cached value. If its load began at least `maxAge` milliseconds ago, the function
 *   loads it again. Calls during a load share that load.
 */
export function cached<T>(
  load: () => Promise<T>,
  { cachesFailures = false, now = () => performance.now() } = {},
): (maxAge: number) => Promise<T> {
  let current: Promise<T> | undefined
  let isLoading = false
  let begunAt = 0
  return (maxAge) => {
    if (current !== undefined && (isLoading || now() - begunAt < maxAge)) return current
    begunAt = now()
    isLoading = true
    const loading = load()
    loading.then(
      () => (isLoading = false),
      () => {
        isLoading = false
        if (!cachesFailures) current = undefined
      },
    )
    return (current = loading)
  }
}
