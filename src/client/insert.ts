import { PostgrestError } from '@supabase/postgrest-js'

import { isAlreadyStored, table, type Application } from '../application/application.ts'
import { dataInterfaceAt, type DataInterface } from './data-interface.ts'
import { withRetry } from './retry.ts'

/** Milliseconds after which a send is given up, all its tries together. */
const timeout = 20_000
/** Milliseconds before the second and the third try. */
export const retryPauses = [700, 1_800]
const unreachable = 'The backend could not be reached. Please check your connection and try again.'

/**
 * Stores an application through the backend's data interface, asking for nothing back. A send that got no
 * answer is repeated; where an earlier try was stored after all, the database says so, and that is success.
 *
 * @throws {PostgrestError} where the backend refuses it, with the backend's own message.
 * @throws {Error} where no answer came.
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
  const client = dataInterfaceAt(backend, async (input, init) =>
    readable(await withRetry(() => fetcher(input, init), retryPauses, controller.signal)),
  )
  try {
    await client.from(table).insert(application).abortSignal(controller.signal).throwOnError()
  } catch (error) {
    if (error instanceof PostgrestError && isAlreadyStored(error)) return
    // Each browser engine has its own words for this.
    throw error instanceof TypeError ? new Error(unreachable, { cause: error }) : error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Lets the backend's own answers pass: nothing where all went well, or JSON.
 *
 * @throws {Error} without a message, where somebody else answered, such as a proxy: its text is no message for a visitor.
 */
async function readable(response: Response) {
  const text = await response.clone().text()
  if (!response.ok || text !== '') {
    const body = parsed(text)
    if (body === undefined || (!response.ok && typeof body?.message !== 'string')) throw new Error()
  }
  return response
}

function parsed(text: string) {
  try {
    return JSON.parse(text) as { message?: unknown } | null
  } catch {
    return undefined
  }
}
