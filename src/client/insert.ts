import { isDuplicate, table, type Application } from '../application/application.ts'
import { RefusedCall, requestOf, send, type DataInterface } from './rest.ts'

/** Timeout of a send, including all its tries, in milliseconds. */
const timeout = 20_000
/** Milliseconds before the second and the third try. */
export const retryDelays = [700, 1_800]

/** The backend could not be reached. The cause has the browser's own message, which differs by engine. */
export class UnreachableError extends Error {}

/**
 * Stores an application through the backend's data interface, without requesting the row. A send is retried if there is no
 * response, or only a proxy's. If an earlier try was stored after all, the database reports a duplicate, which counts as success.
 *
 * @throws {RefusedCall} if the backend refuses it, with the backend's own message.
 * @throws {UnreachableError} if there is no connection.
 * @throws {Error} after the timeout.
 * @throws {SyntaxError} without a message, if a program other than the backend responded.
 */
export async function insertApplication(
  application: Application,
  backend: DataInterface,
  fetcher = fetch,
): Promise<void> {
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort(
      new Error('The server did not respond within 20 seconds. Please check your connection and try again.'),
    )
  }, timeout)
  const request = requestOf(backend, table, application)
  try {
    await send(request, retryDelays, controller.signal, fetcher)
  } catch (error) {
    if (error instanceof RefusedCall && isDuplicate(error)) return
    throw error instanceof TypeError ? new UnreachableError('', { cause: error }) : error
  } finally {
    clearTimeout(timer)
  }
}
