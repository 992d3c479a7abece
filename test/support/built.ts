import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

let building: Promise<unknown> | undefined

/**
 * Waits until the sources are built, once a worker. start.js builds them before it runs any command, or waits for another process
 * that does.
 *
 * @throws {Error} The build fails. The message has what it printed.
 */
export async function built(): Promise<void> {
  building ??= promisify(execFile)(process.execPath, ['start.js', 'applications', '--help'])
  await building
}
