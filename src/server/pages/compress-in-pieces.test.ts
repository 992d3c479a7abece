import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

import { compressInPieces } from './compress-in-pieces.ts'

const scene = '<p>The scene</p>'.repeat(200)
const form = '<input name="a">'.repeat(200)
const rest = '<template></template>'.repeat(200)
const html = scene + form + rest
const beginnings = [scene.length, scene.length + form.length]

test('all pieces together are the document, in each encoding', async () => {
  const { br, gzip, identity } = await compressInPieces(html, beginnings)
  expect(brotliDecompressSync(Buffer.concat(br)).toString()).toBe(html)
  expect(gunzipSync(Buffer.concat(gzip)).toString()).toBe(html)
  expect(Buffer.concat(identity).toString()).toBe(html)
})

test.each([
  [1, scene],
  [2, scene + form],
])('the first %i of 3 pieces can be decoded before the next arrives', async (count, beginning) => {
  const { br, gzip, identity } = await compressInPieces(html, beginnings)
  const [firstOfBr, firstOfGzip, first] = [br, gzip, identity].map((pieces) =>
    Buffer.concat(pieces.slice(0, count)),
  )
  const decoded = [
    brotliDecompressSync(firstOfBr ?? '', { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
    gunzipSync(firstOfGzip ?? '', { finishFlush: constants.Z_SYNC_FLUSH }),
    first,
  ]
  expect(decoded.map(String)).toEqual([beginning, beginning, beginning])
})
