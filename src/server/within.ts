/**
 * Waits for work up to a timeout. A later result is ignored.
 *
 * @param limit Timeout in milliseconds.
 * @param late Creates the error of a timeout.
 */
export async function within<T>(limit: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), limit)
  })
  return Promise.race([work, lateness]).finally(() => clearTimeout(timer))
}
