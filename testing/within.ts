/**
 * Waits for something with a timeout.
 *
 * @param limit In milliseconds.
 * @param what Its description.
 * @throws {Error} It took longer. A later result is lost.
 */
export async function within<Result>(limit: number, what: string, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limit / 1000} s`)), limit)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
