import { OperatorError } from '../../settings/operator-error.ts'
import { within } from '../within.ts'

/** The files did not respond in time. */
export class FileTimeoutError extends OperatorError {}

/**
 * Runs work on the files of `BACKUP_DIR`.
 *
 * @throws {FileTimeoutError} if the files do not respond in time.
 */
export type FileWork = <T>(work: () => Promise<T>) => Promise<T>

/** Runs the work directly, without a queue or a timeout. */
export const runDirectly: FileWork = (work) => work()

/** The timeout of one piece of work, in milliseconds. A slow disk may take long to flush a few megabytes. */
const defaultTimeout = 15_000

/**
 * Queues work on files in a folder that may hang, such as on a lost network disk. Each hanging call holds one of the four
 * threads that Node.js has for files, DNS and passwords. The queue therefore runs one piece at a time, and begins no other
 * while a piece hangs.
 *
 * @param timeout Timeout of each piece, in milliseconds.
 */
export function createFileWork(dir: string, timeout = defaultTimeout): FileWork {
  let queue: Promise<unknown> = Promise.resolve()
  let isStuck = false

  const timeoutError = () =>
    new FileTimeoutError(
      `BACKUP_DIR is "${dir}", whose files do not respond: check the disk or the network that it is on, or name another folder.`,
    )
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isStuck) throw timeoutError()
    const working = work().finally(() => (isStuck = false))
    return within(timeout, working, () => {
      isStuck = true
      return timeoutError()
    })
  }

  return (work) => {
    const running = queue.then(() => run(work))
    queue = running.catch(() => {})
    return running
  }
}
