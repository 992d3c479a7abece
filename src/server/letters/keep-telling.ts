/** Milliseconds: three of them are missed before the desk takes a server for gone. */
const interval = 20_000

/**
 * Tells the database that somebody is at work, now and again and again.
 *
 * @returns Ends it.
 */
export function keepTelling(
  tell: () => Promise<unknown>,
  log: { warn: (details: object, message: string) => void },
): () => void {
  const tellOnce = () => {
    tell().catch((error: unknown) => log.warn({ err: error }, 'the database was not told who is at work'))
  }
  const timer = setInterval(tellOnce, interval)
  tellOnce()
  return () => clearInterval(timer)
}
