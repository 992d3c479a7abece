import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'

import { readBody } from './body.ts'

/** Sends chunks and reads them as a body of at most 100 bytes. Returns the body, or the error's status. */
function read(chunks: string[], headers: Record<string, string> = {}, failure?: Error) {
  const payload = Object.assign(new PassThrough(), { headers })
  const result = new Promise<string | number | undefined>((resolve) =>
    readBody(
      payload as unknown as IncomingMessage,
      (error, body) =>
        resolve(error === null ? body.toString() : (error as { statusCode?: number }).statusCode),
      100,
    ),
  )
  for (const chunk of chunks) payload.write(chunk)
  if (failure === undefined) payload.end()
  else payload.destroy(failure)
  return result
}

test.each([
  ['no chunk', []],
  ['one chunk', ['abc']],
  ['chunks of one byte, up to the limit', Array.from({ length: 100 }, (_, index) => String(index % 10))],
  ['chunks of several lengths', ['a', 'bc', 'd'.repeat(60), '', 'e'.repeat(36)]],
])('a body of %s is read as one', async (_name, chunks) => {
  expect(await read(chunks)).toBe(chunks.join(''))
})

test('a body above the limit is refused, by its declared length before it is read', async () => {
  expect(await read(['a'.repeat(60), 'b'.repeat(41)])).toBe(413)
  expect(await read([], { 'content-length': '101' })).toBe(413)
  expect(await read(['a'.repeat(100)], { 'content-length': '100' })).toBe('a'.repeat(100))
})

test('a request that breaks off is refused with 400', async () => {
  expect(await read(['abc'], {}, new Error('aborted'))).toBe(400)
})
