import { requestOf, send, type DataInterface } from './rest.ts'

/**
 * Asks whether applications are taken.
 *
 * @returns The sentence that applicants are told; nothing while applications are taken, or where no response came.
 */
export async function askDoor(backend: DataInterface, fetcher = fetch): Promise<string | undefined> {
  try {
    const door = await send(requestOf(backend, 'rpc/door_is_open', {}), [], null, fetcher)
    return (door as { sentence?: string } | null)?.sentence
  } catch (error) {
    // The form works without it: whoever sends while the door is closed is told then.
    console.info('Whether applications are taken is not known:', error)
    return undefined
  }
}
