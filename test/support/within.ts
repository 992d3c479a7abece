/**
 * Waits for a promise with a timeout.
 *
 * @param timeout The timeout in milliseconds.
 * @param what Describes the work in the error message.
 * @throws {Error} The work took longer. A later result is lost.
 */
export async function within<Result>(timeout: number, what: string, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeout / 1000} s`)), timeout)
  })
  return Promise.race([work, timedOut]).finally(() => clearTimeout(timer))
}
