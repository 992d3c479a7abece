import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

import { compressInPieces } from './pieces.ts'

const scene = '<p>The scene</p>'.repeat(200)
const form = '<input name="a">'.repeat(200)

test('both pieces together are the document, in each encoding', async () => {
  const { br, gzip, identity } = await compressInPieces(scene + form, scene.length)
  expect(brotliDecompressSync(Buffer.concat([...br])).toString()).toBe(scene + form)
  expect(gunzipSync(Buffer.concat([...gzip])).toString()).toBe(scene + form)
  expect(Buffer.concat([...identity]).toString()).toBe(scene + form)
})

test('the first piece can be decoded before the second arrives', async () => {
  const { br, gzip, identity } = await compressInPieces(scene + form, scene.length)
  const decoded = [
    brotliDecompressSync(br[0], { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
    gunzipSync(gzip[0], { finishFlush: constants.Z_SYNC_FLUSH }),
    identity[0],
  ]
  expect(decoded.map(String)).toEqual([scene, scene, scene])
})
