import { isAlreadyStored, table, type Application } from '../application/application.ts'
import { RefusedCall, requestOf, send, type DataInterface } from './rest.ts'

/** Milliseconds after which a send is given up, all its tries together. */
const timeout = 20_000
/** Milliseconds before the second and the third try. */
export const retryPauses = [700, 1_800]

/** The backend could not be reached. Each browser engine has its own words for it, which are its cause. */
export class UnreachableError extends Error {}

/**
 * Stores an application through the backend's data interface, asking for nothing back. A send that got no
 * response is repeated; where an earlier try was stored after all, the database says so, and that is success.
 *
 * @throws {RefusedCall} where the backend refuses it, with the backend's own message.
 * @throws {UnreachableError} where there is no connection.
 * @throws {Error} where no response came in time, or somebody else responded: then without a message.
 */
export async function insertApplication(
  application: Application,
  backend: DataInterface,
  fetcher = fetch,
): Promise<void> {
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort(
      new Error('No answer came within 20 seconds. Please check your connection and try again.'),
    )
  }, timeout)
  const request = requestOf(backend, table, application)
  try {
    await send(request, retryPauses, controller.signal, fetcher)
  } catch (error) {
    if (error instanceof RefusedCall && isAlreadyStored(error)) return
    throw error instanceof TypeError ? new UnreachableError('', { cause: error }) : error
  } finally {
    clearTimeout(timer)
  }
}
