/** A promise, and the function that resolves it, as `Promise.withResolvers` returns them, which Node.js 20 has not. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
