/**
 * Waits for something for so long.
 *
 * @param limit In milliseconds.
 * @param what It, in words.
 * @throws {Error} where it takes longer; what comes of it later is lost.
 */
export async function within<Result>(limit: number, what: string, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limit / 1000} s`)), limit)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
