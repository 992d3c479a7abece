import { buffer } from 'node:stream/consumers'
import { constants, createBrotliCompress, createGzip, type BrotliCompress, type Gzip } from 'node:zlib'

/** The encodings of a document. `identity` is uncompressed (RFC 9110, 8.4). */
export type Encoding = 'br' | 'gzip' | 'identity'

/** A document in each encoding, in pieces. Each can be decoded before the next arrives. */
type Pieces = Record<Encoding, Buffer[]>

/**
 * Compresses a document as one stream that is flushed at the end of each of its beginnings.
 *
 * @param beginnings Their lengths in characters, ascending.
 */
export async function compressInPieces(html: string, beginnings: readonly number[]): Promise<Pieces> {
  const parts = [0, ...beginnings].map((start, index) => html.slice(start, beginnings[index]))
  return {
    br: await compress(createBrotliCompress(), constants.BROTLI_OPERATION_FLUSH, parts),
    gzip: await compress(createGzip(), constants.Z_SYNC_FLUSH, parts),
    identity: parts.map((part) => Buffer.from(part)),
  }
}

async function compress(compressor: BrotliCompress | Gzip, flush: number, parts: readonly string[]) {
  const pieces: Buffer[] = []
  for (const part of parts.slice(0, -1)) {
    compressor.write(part)
    await new Promise<void>((resolve) => compressor.flush(flush, resolve))
    pieces.push(compressor.read() as Buffer)
  }
  compressor.end(parts.at(-1))
  return [...pieces, await buffer(compressor)]
}
