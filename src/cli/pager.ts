import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { ignoreInterrupts } from './with-database.ts'

/**
 * Shows text in the reader's pager, as git does: the command in PAGER, or less, which exits at once if the text fits the screen.
 * Only as much text is generated as the pager reads. The pager handles Ctrl-C.
 *
 * @returns Whether there is a pager. Without one, nothing was shown.
 */
export function showInPager(text: AsyncIterable<string>): Promise<boolean> {
  const { PAGER } = process.env
  if (PAGER === '' || PAGER === 'cat') return Promise.resolve(false)
  return ignoreInterrupts(async () => {
    const stop = () => pager.kill()
    // Without this, the pager would survive this program: not every pager notices that its terminal is gone.
    process.on('SIGTERM', stop).on('SIGHUP', stop)
    const pager = spawn(PAGER ?? 'less', {
      shell: PAGER !== undefined,
      stdio: ['pipe', 'inherit', 'inherit'],
      // Without a locale, less shows characters beyond ASCII as bytes.
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

/** A shell's exit codes for a command that is missing, or cannot be run. */
const notFound = 127
const notExecutable = 126

/** Throws the error unless the pager was only closed early. */
function unlessClosed(error: unknown) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EPIPE' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
}
