import { dataInterfaceAt, type DataInterface } from './data-interface.ts'

/**
 * Asks whether applications are taken.
 *
 * @returns What whoever applies now is told; nothing while they are taken, or where no answer says that they are not.
 */
export async function askDoor(backend: DataInterface, fetcher = fetch): Promise<string | undefined> {
  const { data, error } = await dataInterfaceAt(backend, fetcher).rpc('door_is_open')
  // The form works without: who sends all the same is told then.
  if (error) console.info('Whether applications are taken is not known:', error.message)
  return (data as { sentence?: string } | null)?.sentence
}
