import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { leaveInterrupts } from './with-database.ts'

/**
 * Shows text in the reader's pager, as git does: the command in PAGER, or else less, which stays only where the text
 * is longer than the screen. The text is asked for as far as it is read. Ctrl-C is the pager's.
 *
 * @returns Whether there is a pager; where there is none, nothing was shown.
 */
export function page(text: AsyncIterable<string>): Promise<boolean> {
  const { PAGER } = process.env
  if (PAGER === '' || PAGER === 'cat') return Promise.resolve(false)
  return leaveInterrupts(async () => {
    const stop = () => pager.kill()
    // The pager would go on running when this program is ended, and not every pager notices that its terminal is gone.
    process.on('SIGTERM', stop).on('SIGHUP', stop)
    const pager = spawn(PAGER ?? 'less', {
      shell: PAGER !== undefined,
      stdio: ['pipe', 'inherit', 'inherit'],
      // Without a locale, less would show characters beyond ASCII as bytes.
      env: { LESS: 'FRX', LESSCHARSET: 'utf-8', ...process.env },
    })
    const ended = once(pager, 'close').then(
      ([code]) => code as number | null,
      () => notFound,
    )
    try {
      await pipeline(Readable.from(text), pager.stdin).catch(unlessClosed)
      return ![notFound, notExecutable].includes((await ended) ?? 0)
    } catch (error) {
      stop()
      await ended
      throw error
    } finally {
      process.off('SIGTERM', stop).off('SIGHUP', stop)
    }
  })
}

/** What a shell exits with where a command is not there, or may not be run. */
const notFound = 127
const notExecutable = 126

/** Whoever quits has read enough. */
function unlessClosed(error: unknown) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EPIPE' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
}
