import { OperatorError } from '../settings/operator-error.ts'
import { within } from './within.ts'

/** A part of the server, and how it is stopped. */
export interface Part {
  name: string
  stop: () => Promise<unknown>
}

/**
 * Stops parts, all at the same time. One that fails, or is not done in time, keeps none of the others.
 *
 * @param limit Milliseconds.
 * @returns A sentence about each that was not stopped in order.
 */
export async function stopParts(parts: readonly Part[], limit: number): Promise<string[]> {
  const late = () => new Error(`not within ${limit / 1000} s`)
  const stopping = parts.map(async ({ name, stop }) => {
    try {
      await within(limit, stop(), late)
      return []
    } catch (error) {
      if (error instanceof OperatorError) return [error.message]
      return [`${name} did not stop in order (${error instanceof Error ? error.message : String(error)}).`]
    }
  })
  return (await Promise.all(stopping)).flat()
}
