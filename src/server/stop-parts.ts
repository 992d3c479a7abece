import { OperatorError } from '../settings/operator-error.ts'
import { within } from './within.ts'

/** A part of the server, and how it is stopped. */
export interface Part {
  name: string
  stop: () => Promise<unknown>
}

/**
 * Stops parts in parallel. A part that fails or hangs does not hold up the others.
 *
 * @param timeout Timeout of each part, in milliseconds.
 * @returns A sentence about each part that did not stop cleanly.
 */
export async function stopParts(parts: readonly Part[], timeout: number): Promise<string[]> {
  const timeoutError = () => new Error(`not within ${timeout / 1000} s`)
  const stopping = parts.map(async ({ name, stop }) => {
    try {
      await within(timeout, stop(), timeoutError)
      return []
    } catch (error) {
      if (error instanceof OperatorError) return [error.message]
      return [`${name} did not stop cleanly (${error instanceof Error ? error.message : String(error)}).`]
    }
  })
  return (await Promise.all(stopping)).flat()
}
