/**
 * Keeps a value that is expensive to load. It is loaded when somebody asks, and one load runs at a time.
 *
 * @param load Loads the value.
 * @param options.keepsFailures Whether a load that failed counts as a value; otherwise the next request loads again.
 * @param options.now A clock in milliseconds that is never set back.
 * @returns Gives the value, loaded again if its load began at least `maxAge` milliseconds ago. Whoever asks during a load gets
 *   that load's value.
 */
export function cached<T>(
  load: () => Promise<T>,
  { keepsFailures = false, now = () => performance.now() } = {},
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
        if (!keepsFailures) current = undefined
      },
    )
    return (current = loading)
  }
}
