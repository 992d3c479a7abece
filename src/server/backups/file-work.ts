import { OperatorError } from '../../settings/operator-error.ts'
import { within } from '../within.ts'

/** The files do not answer. */
export class SilentError extends OperatorError {}

/**
 * Runs work on the files of `BACKUP_DIR`.
 *
 * @throws {SilentError} where the files do not answer in time.
 */
export type FileWork = <T>(work: () => Promise<T>) => Promise<T>

/** Work that nobody waits for but whoever asked for it. */
export const justSo: FileWork = (work) => work()

/** Milliseconds for one piece of work: what is written to a slow disk is flushed every few megabytes. */
const longest = 15_000

/**
 * Work on files in a folder that may never come back, such as on a network that is gone: each call then keeps one of the
 * four threads that Node.js has for files, names and passwords. So it is done one piece after the other, and while one has
 * not come back none is begun.
 *
 * @param limit Milliseconds after which a piece is given up.
 */
export function createFileWork(dir: string, limit = longest): FileWork {
  let last: Promise<unknown> = Promise.resolve()
  let isStuck = false

  const silent = () =>
    new SilentError(
      `BACKUP_DIR is "${dir}", whose files do not answer: see to the disk or the network that it is on, or name another folder.`,
    )
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isStuck) throw silent()
    const working = work().finally(() => (isStuck = false))
    return within(limit, working, () => {
      isStuck = true
      return silent()
    })
  }

  return (work) => {
    const running = last.then(() => run(work))
    last = running.catch(() => {})
    return running
  }
}
