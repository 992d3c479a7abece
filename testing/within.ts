/**
 * Waits for a promise with a timeout.
 *
 * @param limit The timeout in milliseconds.
 * @param what Describes the work in the error message.
 * @throws {Error} The work took longer. A later result is lost.
 */
export async function within<Result>(limit: number, what: string, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limit / 1000} s`)), limit)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
