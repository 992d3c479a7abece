import { requestOf, send, type DataInterface } from './rest.ts'

/** Milliseconds before the second and the third try. */
const retryDelays = [700, 1_800]

/**
 * Calls a function of the backend that takes the token of a link in an email. A call that does not reach the database is
 * retried.
 *
 * @returns The state that the token's holder may see.
 * @throws {RefusedCall} if the call was refused, such as after too many wrong tokens; another error if there was no valid
 *   response.
 */
export async function callByToken<Result extends { state: string }>(
  backend: DataInterface,
  name: string,
  args: object,
  signal: AbortSignal,
): Promise<Result> {
  const result = await send(requestOf(backend, `rpc/${name}`, args), retryDelays, signal)
  if (!(result as Partial<Result> | null)?.state) throw new SyntaxError()
  return result as Result
}
