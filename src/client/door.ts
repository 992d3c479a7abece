import { requestOf, send, type DataInterface } from './rest.ts'

/**
 * Asks whether applications are open.
 *
 * @returns The sentence for applicants; undefined while applications are open, or without a response.
 */
export async function readDoorSentence(backend: DataInterface, fetcher = fetch): Promise<string | undefined> {
  try {
    const door = await send(requestOf(backend, 'rpc/door_is_open', {}), [], null, fetcher)
    return (door as { sentence?: string } | null)?.sentence
  } catch (error) {
    // The form works without it: an applicant is told when they send while the door is closed.
    console.info('Whether applications are taken is not known:', error)
    return undefined
  }
}
