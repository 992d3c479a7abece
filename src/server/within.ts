/**
 * Waits for work up to a timeout. A later result is ignored.
 *
 * @param limit Timeout in milliseconds.
 * @param timeoutError Creates the error of a timeout.
 */
export async function within<T>(limit: number, work: Promise<T>, timeoutError: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeoutError()), limit)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
