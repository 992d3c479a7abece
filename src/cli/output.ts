import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

let hasFailed = false

/**
 * Lets a command go on after its output failed, so that it ends its work and stops the database that it started. A reader that
 * closed the pipe, such as `head`, is no error. Another failure is reported once, and the exit code is 1.
 */
export function handleOutputErrors(): void {
  // There is no place to report these.
  process.stderr.on('error', () => {})
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (hasFailed) return
    hasFailed = true
    if (code === 'EPIPE') return
    console.error(
      `Not everything could be written (${code}): free disk space where the output is written, and begin again.`,
    )
    process.exitCode = 1
  })
}

/** Writes text to standard output, piece by piece. If the output fails, no further piece is read. */
export async function write(text: AsyncIterable<string> | Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout, { end: false })
  } catch (error) {
    if (!hasFailed) throw error
  }
}

/** Writes a line about each item to standard output, batch by batch. If the output fails, no further batch is read. */
export async function writeLines<Item>(
  batches: AsyncIterable<Item[]>,
  lineOf: (item: Item) => string,
): Promise<void> {
  async function* texts() {
    for await (const batch of batches) yield batch.map((item) => `${lineOf(item)}\n`).join('')
  }
  await write(texts())
}
