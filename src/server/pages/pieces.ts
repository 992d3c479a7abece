import { buffer } from 'node:stream/consumers'
import { constants, createBrotliCompress, createGzip, type BrotliCompress, type Gzip } from 'node:zlib'

/** A document in each encoding, in two pieces. The first can be decoded before the second arrives. */
export type Pieces = Record<'br' | 'gzip' | 'identity', readonly [Buffer, Buffer]>

/** Compresses a document as one stream that is flushed after its first `length` characters. */
export async function compressInPieces(html: string, length: number): Promise<Pieces> {
  const parts = [html.slice(0, length), html.slice(length)] as const
  return {
    br: await compress(createBrotliCompress(), constants.BROTLI_OPERATION_FLUSH, parts),
    gzip: await compress(createGzip(), constants.Z_SYNC_FLUSH, parts),
    identity: [Buffer.from(parts[0]), Buffer.from(parts[1])],
  }
}

async function compress(
  compressor: BrotliCompress | Gzip,
  flush: number,
  [first, rest]: readonly [string, string],
): Promise<[Buffer, Buffer]> {
  compressor.write(first)
  await new Promise<void>((resolve) => compressor.flush(flush, resolve))
  const piece = compressor.read() as Buffer
  compressor.end(rest)
  return [piece, await buffer(compressor)]
}
