/**
 * Waits for work up to a timeout. The work itself goes on after a timeout, but its result is ignored.
 *
 * @param timeout Timeout in milliseconds.
 * @param timeoutError Creates the error of a timeout.
 */
export async function within<T>(timeout: number, work: Promise<T>, timeoutError: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeoutError()), timeout)
  })
  return Promise.race([work, expired]).finally(() => clearTimeout(timer))
}
