import { requestOf, send, type DataInterface } from './rest.ts'

/**
 * Asks whether applications are open.
 *
 * @returns The sentence for applicants if applications are closed; undefined if they are open, or if the request failed.
 */
export async function readDoorSentence(backend: DataInterface, fetcher = fetch): Promise<string | undefined> {
  try {
    const door = await send(requestOf(backend, 'rpc/door_is_open', {}), [], null, fetcher)
    return (door as { sentence?: string } | null)?.sentence
  } catch (error) {
    // The form works without the response: a closed door refuses each application, and its error is the sentence.
    console.info('Could not check whether applications are open:', error)
    return undefined
  }
}
