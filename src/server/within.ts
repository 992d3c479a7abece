/**
 * Waits for work for so long; what comes of it later is lost.
 *
 * @param limit Milliseconds.
 * @param late Makes what it fails with then.
 */
export async function within<T>(limit: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), limit)
  })
  return Promise.race([work, lateness]).finally(() => clearTimeout(timer))
}
