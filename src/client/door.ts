import { dataInterfaceAt, type DataInterface } from './data-interface.ts'

/**
 * Asks whether applications are taken.
 *
 * @returns The sentence that applicants are told; nothing while applications are taken, or where no answer came.
 */
export async function askDoor(backend: DataInterface, fetcher = fetch): Promise<string | undefined> {
  const { data, error } = await dataInterfaceAt(backend, fetcher).rpc('door_is_open')
  // The form works without it: whoever sends while the door is closed is told then.
  if (error) console.info('Whether applications are taken is not known:', error.message)
  return (data as { sentence?: string } | null)?.sentence
}
