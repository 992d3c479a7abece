import { requestOf, send, type DataInterface } from './rest.ts'

/** The state of the door. `sentence` is for applicants, and is absent while applications are open. */
export interface Door {
  is_open: boolean
  sentence?: string
}

/** Asks whether applications are open. Returns undefined if the request failed. */
export async function readDoor(backend: DataInterface, fetcher = fetch): Promise<Door | undefined> {
  try {
    const door = await send(requestOf(backend, 'rpc/door_is_open', {}), [], null, fetcher)
    return (door as Door | null) ?? undefined
  } catch (error) {
    // The form works without the response: a closed door refuses each application, and its error is the sentence.
    console.info('Could not check whether applications are open:', error)
    return undefined
  }
}
